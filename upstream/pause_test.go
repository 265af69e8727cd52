package upstream_test

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/internal/must"
	"crossgate/internal/pooltest"
	"crossgate/upstream"
)

// TestRefusalsWithoutATimePauseLonger uses an endpoint that refuses everything without a Retry-After, as after a spent
// daily plan. It is tried after 1, 2, 4 … s, at most once a minute. After one success the next refusal pauses it for
// one second again. Refusals of requests in flight when the pause began do not lengthen it.
func TestRefusalsWithoutATimePauseLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, refuses := time.Now(), true
		var asked []time.Duration
		e := pooltest.Endpoint(t, "node", func(*http.Request) (*http.Response, error) {
			asked = append(asked, time.Since(began))
			if refuses {
				return pooltest.Answer(429, "Too Many Requests"), nil
			}
			return pooltest.Answer(200, "{}"), nil
		}, upstream.EndpointOptions{})
		ask := func() error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			_, err := e.Do(ctx, upstream.Request{})
			return err
		}
		for time.Since(began) < time.Hour {
			_ = ask() // refused, or still paused
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
		must.Do(t, ask())
		refuses = true
		_ = ask() // refused
		time.Sleep(time.Second)
		refuses = false
		if err := ask(); err != nil {
			t.Errorf("a second after the first refusal since an answer: %v", err)
		}
	})
}

// TestRefusalsAtOnceAreOne has many requests in flight when the endpoint begins to refuse.
func TestRefusalsAtOnceAreOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		e := pooltest.Endpoint(t, "node", func(*http.Request) (*http.Response, error) {
			time.Sleep(100 * time.Millisecond)
			if asked.Add(1) <= 20 {
				return pooltest.Answer(429, "Too Many Requests"), nil
			}
			return pooltest.Answer(200, "{}"), nil
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

// TestClosedEndpointsAreTriedSeldom uses an endpoint that reports a spent plan, with or without the time left in the
// day. It is tried after a minute, since the refusal may concern a single call, and then less and less often, but never
// later than the time that it reported.
func TestClosedEndpointsAreTriedSeldom(t *testing.T) {
	const day = 24 * time.Hour
	for name, test := range map[string]struct {
		told time.Duration
		want []time.Duration // between tries
	}{
		"no time":            {0, []time.Duration{time.Minute, 5 * time.Minute, 25 * time.Minute, 125 * time.Minute, 6 * time.Hour, 6 * time.Hour}},
		"half a minute":      {30 * time.Second, []time.Duration{30 * time.Second, 30 * time.Second}},
		"two hours":          {2 * time.Hour, []time.Duration{time.Minute, 5 * time.Minute, 25 * time.Minute, 2 * time.Hour, 2 * time.Hour}},
		"longer than a plan": {400 * day, []time.Duration{time.Minute, 5 * time.Minute, 25 * time.Minute, 125 * time.Minute, 6 * time.Hour}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := pooltest.Endpoint(t, "node", pooltest.Always(200, "{}"), upstream.EndpointOptions{})
				spent := &upstream.Error{Class: upstream.RateLimited, Closed: true, RetryAfter: test.told}
				last := time.Now()
				for i := 0; i <= len(test.want); {
					a := e.Attempt(t.Context(), upstream.Request{}, 1)
					if err := a.Settle(t.Context(), spent); upstream.ClassOf(err) == upstream.Unusable {
						time.Sleep(30 * time.Second)
						continue
					}
					if waited := time.Since(last); i > 0 && waited != test.want[i-1] {
						t.Errorf("try %d is made %v after the one before, want %v", i+1, waited, test.want[i-1])
					}
					last = time.Now()
					i++
				}
			})
		})
	}
}
