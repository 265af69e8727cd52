package upstream_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/internal/golden"
	"crossgate/internal/must"
	"crossgate/internal/pooltest"
	"crossgate/upstream"
)

func TestPoolFailsOverAndStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := map[string]int{}
		count := func(answers pooltest.Transport) pooltest.Transport {
			return func(r *http.Request) (*http.Response, error) {
				asked[r.URL.Host]++
				return answers(r)
			}
		}
		pool := upstream.NewPool("chain", pooltest.Endpoint(t, "a", count(pooltest.Always(500, ""))), pooltest.Endpoint(t, "b", count(pooltest.Always(200, "b"))))
		for range 10 {
			got, err := pool.Do(t.Context(), upstream.Request{}, nil)
			if err != nil || string(got.Body) != "b" {
				t.Fatalf("Do() = %+v, %v, want b's answer", got, err)
			}
		}
		if asked["a.invalid"] != 1 || asked["b.invalid"] != 10 {
			t.Errorf("asked %v, want the failing endpoint once", asked)
		}
	})
}

func TestPoolLeavesTimeForTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := upstream.NewPool("chain", pooltest.Endpoint(t, "a", pooltest.Silent), pooltest.Endpoint(t, "b", pooltest.Always(200, "b")))
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		if _, err := pool.Do(ctx, upstream.Request{}, nil); err != nil {
			t.Errorf("Do() with a silent first endpoint = %v, want the second one's answer", err)
		}
	})
}

func TestPoolAsksPausedEndpointsLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := upstream.NewPool("chain",
			pooltest.Endpoint(t, "a", pooltest.Always(429, "", "Retry-After", "60")), pooltest.Endpoint(t, "b", pooltest.Always(200, "b")))
		start := time.Now()
		for range 3 {
			must.Get(pool.Do(t.Context(), upstream.Request{}, nil))(t)
		}
		if time.Since(start) != 0 {
			t.Errorf("Do() waited %v for a paused endpoint", time.Since(start))
		}
	})
}

func TestPoolClassesFailuresAsAWhole(t *testing.T) {
	refused := pooltest.Transport(func(*http.Request) (*http.Response, error) { return nil, errors.New("refused") })
	for _, test := range []struct {
		name  string
		a, b  pooltest.Transport
		want  upstream.Class
		after time.Duration
	}{
		{"limited", pooltest.Always(429, "", "Retry-After", "9"), pooltest.Always(429, "", "Retry-After", "4"), upstream.RateLimited, 4 * time.Second},
		{"silent", pooltest.Silent, pooltest.Silent, upstream.Timeout, 0},
		{"one silent", refused, pooltest.Silent, upstream.Timeout, 0},
		{"down", refused, pooltest.Always(500, ""), upstream.Unreachable, 0},
		{"failing", pooltest.Always(500, ""), pooltest.Always(503, ""), upstream.ServerError, 0},
		{"answered", pooltest.Always(200, ""), pooltest.Always(404, ""), upstream.BadAnswer, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := upstream.NewPool("chain", pooltest.Endpoint(t, "a", test.a), pooltest.Endpoint(t, "b", test.b))
				_, err := pool.Do(t.Context(), upstream.Request{}, func(r upstream.Response) error {
					if r.Status == http.StatusNotFound {
						return &upstream.Error{Class: upstream.Rejected}
					}
					return errors.New("the answer to another question")
				})
				if got, is := errors.AsType[*upstream.Error](err); !is || got.Class != test.want || got.RetryAfter != test.after || got.Endpoint != "chain" {
					t.Fatalf("Do() = %v, want class %v, retry after %v", err, test.want, test.after)
				}
				golden.Contains(t, "the pool's error", err.Error(), "a: ", "b: ")
			})
		})
	}
}

// The class of the pool's error follows from its endpoints' errors and is not repeated; nor is the name of a pool that
// shares it with its only endpoint.
func TestPoolNamesEverythingOnce(t *testing.T) {
	broken := pooltest.Always(500, "")
	for _, test := range []struct {
		endpoints []string
		want      string
	}{
		{[]string{"0x"}, "0x: server error (HTTP 500)"},
		{[]string{"node"}, "0x: node: server error (HTTP 500)"},
		{[]string{"0x", "0x-2"}, "0x: 0x: server error (HTTP 500); 0x-2: server error (HTTP 500)"},
		{nil, "0x: no endpoint is configured"},
	} {
		var endpoints []*upstream.Endpoint
		for _, name := range test.endpoints {
			endpoints = append(endpoints, pooltest.Endpoint(t, name, broken))
		}
		_, err := upstream.NewPool("0x", endpoints...).Do(t.Context(), upstream.Request{}, nil)
		if err == nil || err.Error() != test.want || len(endpoints) == 0 && upstream.ClassOf(err) != upstream.Unreachable {
			t.Errorf("Do() with endpoints %q = %v, want %q", test.endpoints, err, test.want)
		}
	}
}

func TestPoolStopsWhenTheCallerLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		hang := pooltest.Transport(func(r *http.Request) (*http.Response, error) { asked++; return pooltest.Silent(r) })
		pool := upstream.NewPool("chain", pooltest.Endpoint(t, "a", hang), pooltest.Endpoint(t, "b", hang))
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, err := pool.Do(ctx, upstream.Request{Method: "POST"}, nil)
		if upstream.ClassOf(err) != upstream.Canceled || asked != 1 {
			t.Errorf("Do() of a caller who left = %v after %d requests, want canceled after 1", err, asked)
		}
	})
}

// Failures that are asked again elsewhere stay a small share of the load, even when everything fails.
func TestRetriesAreFewWhenEverythingFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var attempts atomic.Int64
		failing := pooltest.Transport(func(r *http.Request) (*http.Response, error) {
			if !r.URL.Query().Has("q") {
				return pooltest.Answer(404, ""), nil // shows that it is up, so that the breaker stays closed
			}
			attempts.Add(1)
			return pooltest.Answer(500, ""), nil
		})
		pool := upstream.NewPool("chain", pooltest.Endpoint(t, "a", failing), pooltest.Endpoint(t, "b", failing))
		const questions = 1000
		var asking sync.WaitGroup
		for range questions {
			asking.Go(func() {
				_, _ = pool.Do(t.Context(), upstream.Request{Query: "q=1"}, nil)
			})
		}
		asking.Wait()
		if extra := attempts.Load() - questions; extra < 10 || extra > questions/5+20 {
			t.Errorf("%d questions made %d attempts too many, want some, and a fifth and 20 at most", questions, extra)
		}
	})
}
