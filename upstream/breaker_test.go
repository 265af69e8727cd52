package upstream_test

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/internal/must"
	"crossgate/internal/pooltest"
	"crossgate/upstream"
)

// failing is an endpoint whose breaker suspects it, since it has answered five requests as it goes on to.
func failing(t *testing.T, answers pooltest.Transport, r upstream.Request) (*upstream.Endpoint, *pooltest.Changing) {
	t.Helper()
	var next pooltest.Changing
	next.To(answers)
	e := pooltest.Endpoint(t, "node", next.Answer)
	for range 5 {
		_, _ = e.Do(t.Context(), r)
	}
	synctest.Wait()
	return e, &next
}

// verified waits until the failures of an endpoint have been investigated.
func verified() {
	<-time.After(4 * time.Second)
	synctest.Wait()
}

func TestBreakerOpensAndProbes(t *testing.T) {
	for name, broken := range map[string]pooltest.Transport{
		"refused": func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") },
		"silent":  pooltest.Silent,
		"failing": pooltest.Always(502, "<html>"),
		"gone":    pooltest.Always(301, ""),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e, next := failing(t, broken, upstream.Request{Path: "quote"})
				verified()
				asked := next.Asked.Load()
				_, err := e.Do(t.Context(), upstream.Request{Path: "quote"})
				if got, is := errors.AsType[*upstream.Error](err); !is || got.Class != upstream.BreakerOpen || got.RetryAfter <= 0 || next.Asked.Load() != asked {
					t.Fatalf("Do() after 5 failures = %v, want an open breaker and when to ask again", err)
				}
				next.To(pooltest.Always(200, "{}"))
				<-time.After(15 * time.Second)
				if _, err := e.Do(t.Context(), upstream.Request{Path: "quote"}); err != nil {
					t.Errorf("Do() at a recovered endpoint = %v, want an answer", err)
				}
			})
		})
	}
}

// An endpoint that recovers is used again, whatever its base URL returns and even if none of its requests succeeded.
func TestEndpointThatIsBackIsUsedAgain(t *testing.T) {
	post := upstream.Request{Path: "quote", Body: []byte(`{"amount":"1"}`)}
	poison := upstream.Request{Path: "poison", Body: []byte(`{}`)}
	down := func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") }
	for name, test := range map[string]struct {
		base   int // status at the base URL
		opened upstream.Request
	}{
		"its base URL redirects":                        {http.StatusMovedPermanently, post},
		"its base URL is an error":                      {http.StatusBadGateway, post},
		"its base URL wants a key":                      {http.StatusUnauthorized, post},
		"its base URL redirects, the question is wrong": {http.StatusFound, poison},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e, next := failing(t, down, test.opened)
				verified()
				if _, err := e.Do(t.Context(), post); upstream.ClassOf(err) != upstream.BreakerOpen {
					t.Fatalf("Do() after 5 failures = %v, want an open breaker", err)
				}
				<-time.After(time.Minute)
				next.To(func(r *http.Request) (*http.Response, error) {
					switch r.URL.Path {
					case "/quote":
						return pooltest.Answer(200, "{}"), nil
					case "/poison":
						return pooltest.Answer(500, ""), nil
					}
					return pooltest.Answer(test.base, ""), nil
				})
				<-time.After(15 * time.Second)
				if _, err := e.Do(t.Context(), post); err != nil {
					t.Errorf("Do() at an endpoint that is back = %v, want an answer", err)
				}
			})
		})
	}
}

// An endpoint that is down is probed less and less often, and never by a request that a caller waits for.
func TestOpenBreakerIsProbedMoreAndMoreRarely(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, next := failing(t, pooltest.Always(503, ""), upstream.Request{})
		var probes []int64
		for range 4 {
			before := next.Asked.Load()
			for range 30 {
				_, _ = e.Do(t.Context(), upstream.Request{})
				<-time.After(time.Second)
			}
			probes = append(probes, next.Asked.Load()-before)
		}
		if probes[0] < 4 || probes[0] > 6 || probes[3] < 2 || probes[3] > 3 {
			t.Errorf("%v requests in each half minute, want five at first and a few for ever", probes)
		}
	})
}

// A hanging probe times out by itself, and callers are refused in the meantime.
func TestHungProbeFreesTheBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, next := failing(t, pooltest.Always(500, ""), upstream.Request{})
		asked := next.Asked.Load()
		next.To(pooltest.Silent)
		<-time.After(2 * time.Second)
		if next.Asked.Load() != asked+1 {
			t.Fatalf("%d probes after 2 s, want 1 under way", next.Asked.Load()-asked)
		}
		if _, err := e.Do(t.Context(), upstream.Request{}); upstream.ClassOf(err) != upstream.BreakerOpen {
			t.Errorf("Do() beside a probe = %v, want the breaker's refusal", err)
		}
		next.To(pooltest.Always(200, "{}"))
		<-time.After(10 * time.Second)
		if _, err := e.Do(t.Context(), upstream.Request{}); err != nil {
			t.Errorf("Do() after a hung probe = %v, want an answer", err)
		}
	})
}

func TestPanicSettlesTheBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := pooltest.Endpoint(t, "node", func(*http.Request) (*http.Response, error) { panic("transport") })
		for range 5 {
			func() {
				defer func() { _ = recover() }()
				_, _ = e.Do(t.Context(), upstream.Request{})
			}()
		}
		synctest.Wait()
		if _, err := e.Do(t.Context(), upstream.Request{}); upstream.ClassOf(err) != upstream.BreakerOpen {
			t.Errorf("Do() after panics = %v, want an open breaker", err)
		}
	})
}

// An endpoint that fails some of its requests, for example behind a balancer, still serves the rest.
func TestAFailedProbeAloneOpensNoBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		e := pooltest.Endpoint(t, "node", func(*http.Request) (*http.Response, error) {
			if asked.Add(1) <= 8 { // 5 by callers, 3 probes
				return pooltest.Answer(500, ""), nil
			}
			return pooltest.Answer(200, "{}"), nil
		})
		for range 5 {
			_, _ = e.Do(t.Context(), upstream.Request{Path: "quote"})
		}
		verified()
		if _, err := e.Do(t.Context(), upstream.Request{Path: "quote"}); err != nil || asked.Load() != 10 {
			t.Errorf("Do() after 3 failed probes and a good one = %v, after %d requests, want an answer to the tenth", err, asked.Load())
		}
	})
}

// TestASuspectedEndpointThatWorksIsVerified lets an endpoint fail while its worker is busy, so that the failures are
// not investigated. It recovers immediately, and is then called rarely, and only by callers without an alternative.
func TestASuspectedEndpointThatWorksIsVerified(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var next pooltest.Changing
		next.To(pooltest.Always(502, ""))
		e := pooltest.Endpoint(t, "node", next.Answer)
		other := make(chan struct{})
		e.InBackground(func(context.Context) { <-other })
		for range 5 {
			_, _ = e.Do(t.Context(), upstream.Request{})
		}
		close(other)
		synctest.Wait()
		next.To(pooltest.Always(200, "{}"))
		must.Get(e.Do(t.Context(), upstream.Request{}))(t)
		verified()
		if standing := e.Health().Standing; standing != "ready" {
			t.Errorf("an endpoint that works is %q", standing)
		}
	})
}

// An immediate refusal of a search does not make an endpoint count as fast, whether a node refuses with an error or a
// venue answers that it has no route.
func TestRefusalsDoNotMakeAnEndpointQuick(t *testing.T) {
	for name, row := range map[string]struct {
		said  error
		fails bool // the caller gets an error
	}{
		"an error":                {&upstream.Error{Class: upstream.Rejected, Err: errors.New("range too wide")}, true},
		"an answer that declines": {upstream.ErrDeclined, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPair(t, 400*time.Millisecond, 400*time.Millisecond)
				for range 10 {
					p.ask(t)
				}
				p.a, p.b = time.Millisecond, time.Millisecond
				for range 200 {
					_, err := p.pool.Do(t.Context(), upstream.Request{}, func(upstream.Response) error { return row.said })
					if (err != nil) != row.fails {
						t.Fatalf("Do() = %v", err)
					}
				}
				if health := p.pool.Health()[0]; health.Usual < 400*time.Millisecond || health.Failing != 0 || !health.IsClosed {
					t.Errorf("after refusals: %+v, want an endpoint that takes 400 ms and does not fail", health)
				}
				if asked := p.askedB.Load(); !row.fails && asked > 40 {
					t.Errorf("the other endpoint was asked %d times: a refusal ends the question", asked)
				}
			})
		})
	}
}
