package upstream_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/upstream"
)

func classOf(err error) upstream.Class {
	var classed *upstream.Error
	if errors.As(err, &classed) {
		return classed.Class
	}
	return 0
}

func TestBreakerOpensAndProbes(t *testing.T) {
	for name, broken := range map[string]transport{
		"refused": func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") },
		"silent":  silent,
		"failing": always(502, "<html>"),
		"gone":    always(301, ""),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var next changing
				next.to(broken)
				e := endpoint(t, "node", next.answer)
				for range 10 {
					_, _ = e.Do(t.Context(), upstream.Request{})
				}
				_, err := e.Do(t.Context(), upstream.Request{})
				var got *upstream.Error
				if !errors.As(err, &got) || got.Class != upstream.BreakerOpen || got.RetryAfter <= 0 {
					t.Fatalf("Do() after 10 failures = %v, want an open breaker and when to ask again", err)
				}
				if asked := next.asked.Load(); asked != 5 {
					t.Errorf("asked %d times before the breaker opened, want 5", asked)
				}
				next.to(always(200, "{}"))
				<-time.After(15 * time.Second)
				if _, err := e.Do(t.Context(), upstream.Request{}); err != nil {
					t.Errorf("probe of a recovered endpoint = %v, want an answer", err)
				}
			})
		})
	}
}

func TestHungProbeFreesTheBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var next changing
		next.to(always(500, ""))
		e := endpoint(t, "node", next.answer)
		for range 5 {
			_, _ = e.Do(t.Context(), upstream.Request{})
		}
		<-time.After(15 * time.Second)
		next.to(silent)
		probed := make(chan error)
		go func() {
			_, err := e.Do(context.Background(), upstream.Request{})
			probed <- err
		}()
		synctest.Wait()
		if _, err := e.Do(t.Context(), upstream.Request{}); classOf(err) != upstream.BreakerOpen {
			t.Errorf("Do() beside a probe = %v, want the breaker's refusal", err)
		}
		if err := <-probed; classOf(err) != upstream.Timeout {
			t.Errorf("hung probe = %v, want a timeout", err)
		}
		next.to(always(200, "{}"))
		<-time.After(15 * time.Second)
		if _, err := e.Do(t.Context(), upstream.Request{}); err != nil {
			t.Errorf("Do() after a hung probe = %v, want an answer", err)
		}
	})
}

func TestPanicSettlesTheBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := endpoint(t, "node", func(*http.Request) (*http.Response, error) { panic("transport") })
		for range 5 {
			func() {
				defer func() { _ = recover() }()
				_, _ = e.Do(t.Context(), upstream.Request{})
			}()
		}
		if _, err := e.Do(t.Context(), upstream.Request{}); classOf(err) != upstream.BreakerOpen {
			t.Errorf("Do() after panics = %v, want an open breaker", err)
		}
	})
}
