package upstream_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/upstream"
)

// TestRefusalsWithoutATimePauseLonger has an endpoint that refuses everything and does not say for how long, as where a
// day's plan is used up: it is asked after 1, 2, 4 … s, at last once a minute. One answer, and the next refusal pauses
// it for a second again. Refusals of what was under way when the pause began lengthen nothing.
func TestRefusalsWithoutATimePauseLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, refuses := time.Now(), true
		var asked []time.Duration
		e := endpoint(t, "node", func(*http.Request) (*http.Response, error) {
			asked = append(asked, time.Since(began))
			if refuses {
				return answer(429, "Too Many Requests"), nil
			}
			return answer(200, "{}"), nil
		}, upstream.EndpointOptions{})
		ask := func() error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			_, err := e.Do(ctx, upstream.Request{})
			return err
		}
		for time.Since(began) < time.Hour {
			_ = ask() // refused, or too early
			time.Sleep(time.Second)
		}
		for i, want := range []time.Duration{0, 1, 3, 7, 15, 31, 63, 123, 183} {
			if asked[i] != want*time.Second {
				t.Errorf("request %d is made after %v, want %v", i, asked[i], want*time.Second)
			}
		}
		if len(asked) > 70 {
			t.Errorf("%d requests in an hour of refusals, want about one a minute", len(asked))
		}
		time.Sleep(time.Minute)
		refuses = false
		if err := ask(); err != nil {
			t.Fatal(err)
		}
		refuses = true
		_ = ask() // refused
		time.Sleep(time.Second)
		refuses = false
		if err := ask(); err != nil {
			t.Errorf("a second after the first refusal since an answer: %v", err)
		}
	})
}

// TestRefusalsAtOnceAreOne has many requests under way when the endpoint begins to refuse.
func TestRefusalsAtOnceAreOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := 0
		e := endpoint(t, "node", func(*http.Request) (*http.Response, error) {
			time.Sleep(100 * time.Millisecond)
			if refused++; refused <= 20 {
				return answer(429, "Too Many Requests"), nil
			}
			return answer(200, "{}"), nil
		}, upstream.EndpointOptions{})
		began := time.Now()
		for range 20 {
			go func() { _, _ = e.Do(t.Context(), upstream.Request{}) }() // refused
		}
		synctest.Wait()
		time.Sleep(200 * time.Millisecond)
		if _, err := e.Do(t.Context(), upstream.Request{}); err != nil || time.Since(began) > 2*time.Second {
			t.Errorf("after 20 refusals at once: %v after %v, want an answer after the pause of one", err, time.Since(began))
		}
	})
}
