package upstream_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/internal/must"
	"crossgate/internal/pooltest"
	"crossgate/upstream"
)

// Callers must not be able to deny an endpoint to others, even if thousands of them cancel early, set short deadlines,
// or send requests that are missing, too large, reverting or nonsensical.
func TestCallersCannotOpenABreaker(t *testing.T) {
	const each = 500
	long := pooltest.Transport(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Body: io.NopCloser(neverEnding{})}, nil
	})
	noRoute := func(upstream.Response) error {
		return &upstream.Error{Class: upstream.Rejected, Err: errors.New("no route")}
	}
	attacks := map[string]struct {
		answers pooltest.Transport
		attack  func(context.Context, *upstream.Pool)
	}{
		"leave early": {pooltest.Silent, func(ctx context.Context, p *upstream.Pool) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(rand.N(9*time.Second), cancel)
			_, _ = p.Do(ctx, upstream.Request{}, nil)
		}},
		"hurry": {pooltest.Silent, func(ctx context.Context, p *upstream.Pool) {
			ctx, cancel := context.WithTimeout(ctx, rand.N(400*time.Millisecond))
			defer cancel()
			_, _ = p.Do(ctx, upstream.Request{}, nil)
		}},
		"ask for what is not there":  {pooltest.Always(404, "{}"), get(nil)},
		"ask what is not allowed":    {pooltest.Always(403, "<html>"), get(nil)},
		"ask what makes no sense":    {pooltest.Always(400, `{"message":"absurd amount"}`), get(nil)},
		"ask too much at once":       {pooltest.Always(413, ""), get(nil)},
		"ask for too long an answer": {long, get(nil)},
		"find no route":              {pooltest.Always(200, "{}"), get(noRoute)},
		"ask too often":              {pooltest.Always(429, "", "Retry-After", "1"), get(nil)},
	}
	for name, test := range attacks {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var next pooltest.Changing
				next.To(test.answers)
				e := pooltest.Endpoint(t, "node", next.Answer, upstream.EndpointOptions{MaxBody: 1 << 10})
				pool := upstream.NewPool("pool", e)
				var callers sync.WaitGroup
				for range each {
					callers.Go(func() { test.attack(t.Context(), pool) })
				}
				callers.Wait()
				next.To(pooltest.Always(200, "fine"))
				<-time.After(2 * time.Second) // a pause that the endpoint itself requested
				if got, err := pool.Do(t.Context(), upstream.Request{}, nil); err != nil || string(got.Body) != "fine" {
					t.Errorf("the next caller has %q, %v, want an answer", got.Body, err)
				}
			})
		})
	}
}

func get(check func(upstream.Response) error) func(context.Context, *upstream.Pool) {
	return func(ctx context.Context, p *upstream.Pool) {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		_, _ = p.Do(ctx, upstream.Request{}, check)
	}
}

// Some services fail, hang, drop the connection or return an HTML page on absurd requests. Other callers must not
// notice, however many such requests there are, whoever comes first, and whether the requests are alike or not.
func TestPoisonHoldsNobodyOff(t *testing.T) {
	poisons := map[string]pooltest.Transport{
		"fails inside":  pooltest.Always(500, "panic: runtime error"),
		"is overloaded": pooltest.Always(503, ""),
		"hangs":         pooltest.Silent,
		"breaks off":    func(*http.Request) (*http.Response, error) { return nil, errors.New("connection reset by peer") },
		"shows a page":  pooltest.Always(200, "<html>internal error</html>"),
		"redirects":     pooltest.Always(302, ""),
	}
	for name, poison := range poisons {
		for _, known := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, sound questions known: %v", name, known), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { attackWith(t, poison, known) })
			})
		}
	}
}

// attackWith sends a service's only endpoint absurd requests, answered with poison: all others must succeed.
func attackWith(t *testing.T, poison pooltest.Transport, known bool) {
	e := pooltest.Endpoint(t, "venue", func(r *http.Request) (*http.Response, error) {
		if r.URL.Query().Has("absurd") {
			return poison(r)
		}
		return pooltest.Answer(200, "{}"), nil
	})
	pool := upstream.NewPool("venue", e)
	isObject := func(r upstream.Response) error {
		if string(r.Body) != "{}" {
			return errors.New("no JSON")
		}
		return nil
	}
	sound := func() error {
		_, err := pool.Do(t.Context(), upstream.Request{Path: "quote"}, isObject)
		return err
	}
	if known {
		must.Do(t, sound())
	}
	for wave := range 20 {
		var callers sync.WaitGroup
		for i := range 50 {
			callers.Go(func() {
				absurd := upstream.Request{Query: "absurd=" + fmt.Sprint(wave%2*i)}
				_, _ = pool.Do(t.Context(), absurd, isObject)
			})
		}
		callers.Wait()
		for range 5 {
			if err := sound(); err != nil {
				t.Fatalf("wave %d: another caller has %v, want an answer", wave, err)
			}
			<-time.After(700 * time.Millisecond)
		}
	}
}

// A request that succeeds today may fail tomorrow. That is not evidence against the endpoint as long as other requests
// succeed, or while the only known requests come from one caller.
func TestQuestionThatTurnsToPoisonHoldsNobodyOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var turned atomic.Bool
		e := pooltest.Endpoint(t, "venue", func(r *http.Request) (*http.Response, error) {
			if turned.Load() && r.URL.Path == "/quote" {
				return pooltest.Answer(500, ""), nil
			}
			return pooltest.Answer(404, "{}"), nil
		})
		bait := func() error { _, err := e.Do(t.Context(), upstream.Request{Path: "quote"}); return err }
		must.Do(t, bait())
		turned.Store(true)
		for range 100 {
			_ = bait()
			<-time.After(100 * time.Millisecond)
		}
		if _, err := e.Do(t.Context(), upstream.Request{Path: "price"}); err != nil {
			t.Errorf("another caller has %v, want an answer", err)
		}
	})
}

// Investigating failures uses little of an endpoint's rate limit.
func TestPoisonCostsFewRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var own int
		e := pooltest.Endpoint(t, "venue", func(r *http.Request) (*http.Response, error) {
			if r.URL.Query().Has("absurd") {
				return pooltest.Answer(500, ""), nil
			}
			own++
			return pooltest.Answer(200, "{}"), nil
		})
		for range 600 { // a minute
			_, _ = e.Do(t.Context(), upstream.Request{Query: "absurd=1"})
			<-time.After(100 * time.Millisecond)
		}
		if own > 15 {
			t.Errorf("%d requests of our own within a minute, want one in five seconds or so", own)
		}
	})
}

// A recovered service is probed again by the time that refused callers were given as their Retry-After.
func TestRetryAfterIsWhenTheEndpointIsProbed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, next := failing(t, pooltest.Always(503, ""), upstream.Request{})
		<-time.After(2500 * time.Millisecond)
		next.To(pooltest.Always(200, "{}"))
		_, err := e.Do(t.Context(), upstream.Request{})
		var refused *upstream.Error
		if !errors.As(err, &refused) || refused.Class != upstream.BreakerOpen || refused.RetryAfter > 2*time.Second {
			t.Fatalf("Do() = %v, want a refusal for two seconds at most", err)
		}
		<-time.After(refused.RetryAfter)
		synctest.Wait()
		if _, err := e.Do(t.Context(), upstream.Request{}); err != nil {
			t.Errorf("Do() after %v, as told = %v, want an answer", refused.RetryAfter, err)
		}
	})
}

// Failures that an honest endpoint cannot help are not logged as lies.
func TestFailuresAreNotNamedAsLies(t *testing.T) {
	var lines bytes.Buffer
	for _, status := range []int{400, 404, 429, 500, 503} {
		e := pooltest.Endpoint(t, "node", pooltest.Always(status, ""), upstream.EndpointOptions{Logger: slog.New(slog.NewTextHandler(&lines, nil))})
		_, _ = e.Do(t.Context(), upstream.Request{})
	}
	if lines.Len() > 0 {
		t.Errorf("log after honest failures:\n%s\nwant none", lines.String())
	}
}
