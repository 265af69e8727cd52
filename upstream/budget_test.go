package upstream_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/internal/must"
	"crossgate/internal/pooltest"
	"crossgate/upstream"
)

func TestBudgetWaitsOnlyWithinTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := pooltest.Endpoint(t, "node", pooltest.Always(200, "{}"), upstream.EndpointOptions{RequestsPerSecond: 0.5, Burst: 1})
		start := time.Now()
		for range 2 {
			must.Get(e.Do(t.Context(), upstream.Request{}))(t)
		}
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("two calls at one in 2 s took %v", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start = time.Now()
		_, err := e.Do(ctx, upstream.Request{})
		if got, is := errors.AsType[*upstream.Error](err); !is || got.Class != upstream.RateLimited || got.RetryAfter != 2*time.Second {
			t.Errorf("Do() without time to wait = %v, want rate limited, retry after 2 s", err)
		}
		if time.Since(start) != 0 {
			t.Error("Do() waited for a refusal")
		}
	})
}

func TestBudgetCountsCost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := pooltest.Endpoint(t, "node", pooltest.Always(200, "{}"), upstream.EndpointOptions{RequestsPerSecond: 10, Burst: 10})
		start := time.Now()
		for range 3 {
			must.Get(e.Do(t.Context(), upstream.Request{Cost: 10}))(t)
		}
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("30 units at 10 a second took %v, want 2 s", took)
		}
	})
}

func TestRetryAfterPausesTheEndpoint(t *testing.T) {
	for name, after := range map[string]func() string{
		"seconds": func() string { return "4" },
		"date":    func() string { return time.Now().Add(4 * time.Second).UTC().Format(http.TimeFormat) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				e := pooltest.Endpoint(t, "node", func(*http.Request) (*http.Response, error) {
					if asked++; asked == 1 {
						return pooltest.Answer(429, "", "Retry-After", after()), nil
					}
					return pooltest.Answer(200, "{}"), nil
				})
				_, _ = e.Do(t.Context(), upstream.Request{})
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if _, err := e.Do(ctx, upstream.Request{}); upstream.ClassOf(err) != upstream.RateLimited || asked != 1 {
					t.Errorf("Do() during the pause = %v after %d requests, want rate limited after 1", err, asked)
				}
				if standing := e.Health().Standing; standing != "away" {
					t.Errorf("during the pause the endpoint is %s, want away", standing)
				}
				start := time.Now()
				if _, err := e.Do(t.Context(), upstream.Request{}); err != nil || time.Since(start) < 3*time.Second {
					t.Errorf("Do() with time = %v after %v, want an answer after the pause", err, time.Since(start))
				}
			})
		})
	}
}

func TestPauseIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := pooltest.Always(429, "", "Retry-After", "99999999")
		e := pooltest.Endpoint(t, "node", func(r *http.Request) (*http.Response, error) { return next(r) })
		_, _ = e.Do(t.Context(), upstream.Request{})
		next = pooltest.Always(200, "{}")
		<-time.After(5 * time.Minute)
		if _, err := e.Do(t.Context(), upstream.Request{}); err != nil {
			t.Errorf("Do() five minutes after an endless pause = %v, want an answer", err)
		}
	})
}

func TestHealthTellsOfTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, test := range map[string]struct {
			options upstream.EndpointOptions
			limited bool
			left    float64
		}{
			"no rate":          {upstream.EndpointOptions{}, false, 0},
			"a rate":           {upstream.EndpointOptions{RequestsPerSecond: 1, Burst: 5}, true, 4},
			"a plan":           {upstream.EndpointOptions{Monthly: 320}, true, 9},
			"a rate and plan":  {upstream.EndpointOptions{RequestsPerSecond: 1, Burst: 5, Monthly: 320}, true, 4},
			"a plan below all": {upstream.EndpointOptions{RequestsPerSecond: 1, Burst: 50, Monthly: 320}, true, 9},
		} {
			e := pooltest.Endpoint(t, "node", pooltest.Always(200, "{}"), test.options)
			must.Get(e.Do(t.Context(), upstream.Request{}))(t)
			health := e.Health()
			if health.IsLimited != test.limited || health.Left != test.left || !health.IsClosed {
				t.Errorf("%s: limited %t with %v left and its breaker closed %t, want %t, %v and true",
					name, health.IsLimited, health.Left, health.IsClosed, test.limited, test.left)
			}
		}
	})
}
