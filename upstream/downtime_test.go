package upstream_test

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/upstream"
)

// unavailable says so for a minute.
var unavailable = always(503, "", "Retry-After", "60")

// ask asks an endpoint what there is time for at once only.
func ask(ctx context.Context, e *upstream.Endpoint) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_, err := e.Do(ctx, upstream.Request{})
	return err
}

// An endpoint that says that it is unavailable is not asked in the background meanwhile: neither by who can wait, nor for
// the sake of knowledge.
func TestUnavailableEndpointsAreLeftAloneInTheBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a changing
		a.to(unavailable)
		pool := upstream.NewPool("chain", endpoint(t, "a", a.answer), endpoint(t, "b", always(200, "b")))
		for range 59 {
			if got, err := pool.Do(t.Context(), upstream.Request{}, nil); err != nil || string(got.Body) != "b" {
				t.Fatalf("Do() = %s, %v, want b's answer", got.Body, err)
			}
			_ = ask(upstream.Background.For(t.Context()), pool.Endpoints()[0])
			<-time.After(time.Second)
		}
		if asked := a.asked.Load(); asked != 1 {
			t.Errorf("it was asked %d times while it said that it is unavailable, want once", asked)
		}
		<-time.After(2 * time.Second)
		a.to(always(200, "a"))
		if err := ask(upstream.Background.For(t.Context()), pool.Endpoints()[0]); err != nil {
			t.Errorf("afterwards: %v, want an answer", err)
		}
	})
}

// TestRetryAfterOfAnOutageIsBounded has answers that say that the endpoint failed, by status and by their Retry-After.
func TestRetryAfterOfAnOutageIsBounded(t *testing.T) {
	for name, test := range map[string]struct {
		status int
		after  func() string
		want   time.Duration
	}{
		"seconds":             {503, told("7"), 7 * time.Second},
		"of another failure":  {502, told("7"), 7 * time.Second},
		"a date":              {503, func() string { return time.Now().Add(7 * time.Second).UTC().Format(http.TimeFormat) }, 7 * time.Second},
		"a date in the past":  {503, func() string { return time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat) }, 0},
		"a distant date":      {503, told("Fri, 31 Dec 9999 23:59:59 GMT"), 5 * time.Minute},
		"long":                {503, told("99999999"), 5 * time.Minute},
		"more than a number":  {503, told("99999999999999999999"), 0},
		"below zero":          {503, told("-7"), 0},
		"words":               {503, told("soon"), 0},
		"none":                {503, told(""), 0},
		"of a refusal":        {413, told("7"), 0},
		"of another location": {301, told("7"), 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var node changing
				after := test.after()
				node.to(always(test.status, "", "Retry-After", after))
				e := endpoint(t, "node", node.answer)
				_, _ = e.Do(t.Context(), upstream.Request{}) // failed
				node.to(always(200, "{}"))
				err := ask(upstream.Background.For(t.Context()), e)
				if test.want == 0 {
					if err != nil || e.Health().RetryAfter != 0 {
						t.Errorf("in the background at once: %v, and to wait for %v, want an answer", err, e.Health().RetryAfter)
					}
					return
				}
				var refused *upstream.Error
				if !errors.As(err, &refused) || refused.Class != upstream.RateLimited || refused.RetryAfter != test.want || node.asked.Load() != 1 {
					t.Errorf("in the background at once: %v after %d requests, want to wait for %v", err, node.asked.Load(), test.want)
				}
				if got := e.Health(); got.RetryAfter != test.want || !got.CanBeAsked {
					t.Errorf("its health says to wait for %v, and that it can be asked: %v", got.RetryAfter, got.CanBeAsked)
				}
				<-time.After(test.want)
				if err := ask(upstream.Background.For(t.Context()), e); err != nil {
					t.Errorf("in the background afterwards: %v, want an answer", err)
				}
			})
		})
	}
}

func told(after string) func() string { return func() string { return after } }

// Whoever waits for an answer that nobody else gives gets it as soon as the endpoint has it, whatever that said before:
// it may have been one of many servers.
func TestUnavailableEndpointsAreAskedWhereNobodyElseAnswers(t *testing.T) {
	for name, others := range map[string][]transport{
		"alone":           nil,
		"one broken":      {func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") }},
		"one silent":      {silent},
		"one unavailable": {unavailable},
		"one paused":      {always(429, "", "Retry-After", "60")},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var node changing
				node.to(unavailable)
				ends := []*upstream.Endpoint{endpoint(t, "node", node.answer)}
				for _, each := range others {
					ends = append(ends, endpoint(t, "other", each))
				}
				pool := upstream.NewPool("chain", ends...)
				ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
				defer cancel()
				if _, err := pool.Do(ctx, upstream.Request{}, nil); err == nil {
					t.Fatal("nobody can answer, and somebody did")
				}
				node.to(always(200, "back"))
				ctx, cancel = context.WithTimeout(t.Context(), 4*time.Second)
				defer cancel()
				if got, err := pool.Do(ctx, upstream.Request{}, nil); err != nil || string(got.Body) != "back" {
					t.Errorf("Do() = %s, %v, want the answer of the endpoint that is back", got.Body, err)
				}
			})
		})
	}
}

// An answer says that the endpoint is there, if it was asked for after the endpoint had said that it would not be.
func TestAnAnswerEndsADowntime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var node changing
		node.to(func(*http.Request) (*http.Response, error) {
			<-time.After(500 * time.Millisecond)
			return answer(200, "{}"), nil
		})
		e := endpoint(t, "node", node.answer)
		early := make(chan error)
		go func() { early <- ask(t.Context(), e) }()
		synctest.Wait()
		node.to(unavailable)
		_ = ask(t.Context(), e) // failed
		if err := <-early; err != nil {
			t.Fatal(err)
		}
		node.to(always(200, "{}"))
		if err := ask(upstream.Background.For(t.Context()), e); upstream.ClassOf(err) != upstream.RateLimited {
			t.Errorf("in the background after the answer to an earlier request: %v, want to wait", err)
		}
		if err := ask(t.Context(), e); err != nil {
			t.Errorf("for who waits: %v, want an answer", err)
		}
		if err := ask(upstream.Background.For(t.Context()), e); err != nil {
			t.Errorf("in the background after an answer: %v, want another", err)
		}
	})
}

// A breaker that opened meanwhile is probed as any other, and what it lets in after a probe was answered is let in.
func TestProbesDoNotWaitForTheEndOfADowntime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var node changing
		node.to(unavailable)
		e := endpoint(t, "node", node.answer)
		for e.Health().IsClosed {
			_ = ask(t.Context(), e) // failed
			synctest.Wait()
		}
		node.to(always(200, "{}"))
		<-time.After(3 * time.Second)
		if err := ask(upstream.Background.For(t.Context()), e); err != nil {
			t.Errorf("in the background, three seconds after it was back: %v, want an answer", err)
		}
	})
}

// A client's request goes on to an origin that said that it is unavailable, and what it answers ends that.
func TestForwardedRequestsGoOnToAnUnavailableOrigin(t *testing.T) {
	var asked atomic.Int64
	e := origin(t, "", nil, func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) == 1 {
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	pool := upstream.NewPool("pool", e)
	for i, want := range []int{503, 200} {
		response, err := pool.Forward(t.Context(), upstream.Forward{Method: http.MethodPost, Path: "/"})
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if isLeftAlone := e.Health().RetryAfter > 0; response.StatusCode != want || isLeftAlone != (i == 0) {
			t.Errorf("request %d: %d, and left alone in the background: %v", i+1, response.StatusCode, isLeftAlone)
		}
	}
}
