package upstream_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/internal/pooltest"
	"crossgate/upstream"
)

// after answers successfully once d has passed, and counts its requests.
func after(d *time.Duration, asked *atomic.Int64, body string) pooltest.Transport {
	return func(r *http.Request) (*http.Response, error) {
		asked.Add(1)
		select {
		case <-time.After(*d):
			return pooltest.Answer(200, body), nil
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
}

// pair is a pool of two endpoints with their delays and request counts.
type pair struct {
	pool         *upstream.Pool
	a, b         time.Duration
	askedA       atomic.Int64
	askedB       atomic.Int64
	endA, endB   *upstream.Endpoint
	lastDuration time.Duration
}

func newPair(t *testing.T, a, b time.Duration) *pair {
	p := &pair{a: a, b: b}
	p.endA, p.endB = pooltest.Endpoint(t, "a", after(&p.a, &p.askedA, "a")), pooltest.Endpoint(t, "b", after(&p.b, &p.askedB, "b"))
	p.pool = upstream.NewPool("pool", p.endA, p.endB)
	return p
}

func (p *pair) ask(t *testing.T) string {
	t.Helper()
	started := time.Now()
	got, err := p.pool.Do(t.Context(), upstream.Request{}, nil)
	p.lastDuration = time.Since(started)
	if err != nil {
		t.Fatalf("Do() = %v", err)
	}
	return string(got.Body)
}

func TestHedgeAsksTheNextWhenTheFirstIsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, 40*time.Millisecond, 40*time.Millisecond)
		for range 20 {
			p.ask(t)
		}
		if p.askedA.Load() != 20 || p.askedB.Load() != 0 {
			t.Fatalf("a was asked %d times and b %d, want 20 and 0", p.askedA.Load(), p.askedB.Load())
		}
		p.a = 2 * time.Second
		if got := p.ask(t); got != "b" || p.lastDuration > 200*time.Millisecond {
			t.Errorf("Do() = %q after %v, want b's answer soon after a was late", got, p.lastDuration)
		}
		health := p.pool.Health()
		if health[0].Failing != 0 || health[0].Usual > 60*time.Millisecond {
			t.Errorf("health of the loser = %+v, want it untouched by the race", health[0])
		}
	})
}

// An endpoint that loses repeatedly is no longer called first, and hedges stay a small share of the load.
func TestSlowEndpointIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, 20*time.Millisecond, 20*time.Millisecond)
		for range 10 {
			p.ask(t)
		}
		p.a = 2 * time.Second
		before := p.askedA.Load()
		for range 50 {
			if got := p.ask(t); got != "b" {
				t.Errorf("Do() = %q, want b's answer", got)
			}
		}
		if extra := p.askedA.Load() - before; extra > 4 {
			t.Errorf("the slow endpoint was asked %d times of 50, want it left after 3 lost races", extra)
		}
	})
}

func TestHedgesAreFewWhenEverybodyIsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, 20*time.Millisecond, 20*time.Millisecond)
		for range 400 {
			p.ask(t)
		}
		before := p.askedA.Load() + p.askedB.Load()
		p.a, p.b = 5*time.Second, 5*time.Second
		const questions = 1000
		done := make(chan struct{})
		for range questions {
			go func() {
				_, _ = p.pool.Do(t.Context(), upstream.Request{}, nil)
				done <- struct{}{}
			}()
		}
		for range questions {
			<-done
		}
		extra := p.askedA.Load() + p.askedB.Load() - before - questions
		if extra > questions/10+20 {
			t.Errorf("%d questions made %d attempts too many, want a tenth and 20 at most", questions, extra)
		}
	})
}

func TestOnlyReadsAreAskedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, 3*time.Second, 0)
		for range 3 {
			got, err := p.pool.Do(t.Context(), upstream.Request{Method: "POST"}, nil)
			if err != nil || string(got.Body) != "a" {
				t.Fatalf("Do() = %q, %v", got.Body, err)
			}
		}
		ctx := upstream.Background.For(t.Context())
		if got, err := p.pool.Do(ctx, upstream.Request{}, nil); err != nil || string(got.Body) != "a" {
			t.Errorf("Do() in the background = %q, %v", got.Body, err)
		}
		if p.askedB.Load() != 0 {
			t.Errorf("%d hedges of what is no read, or for nobody", p.askedB.Load())
		}
	})
}

// The check never sees the answer of a race's loser.
func TestCheckSeesNothingAfterTheWinner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, 600*time.Millisecond, 100*time.Millisecond) // both would answer at 600 ms
		seen := ""
		got, err := p.pool.Do(t.Context(), upstream.Request{}, func(r upstream.Response) error {
			seen += string(r.Body)
			return nil
		})
		if err != nil || seen != string(got.Body) {
			t.Errorf("Do() = %q, %v after the check saw %q", got.Body, err, seen)
		}
	})
}

func TestBrokenConnectionIsTriedAgainAfterAMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		e := pooltest.Endpoint(t, "a", func(*http.Request) (*http.Response, error) {
			if asked.Add(1) == 1 {
				return nil, errors.New("connection reset")
			}
			return pooltest.Answer(200, "fine"), nil
		})
		started := time.Now()
		got, err := upstream.NewPool("pool", e).Do(t.Context(), upstream.Request{}, nil)
		if waited := time.Since(started); err != nil || string(got.Body) != "fine" || waited < 50*time.Millisecond || waited > 150*time.Millisecond {
			t.Errorf("Do() = %q, %v after %v, want the second answer after a moment", got.Body, err, waited)
		}
		asked.Store(0)
		if _, err := upstream.NewPool("pool", e).Do(t.Context(), upstream.Request{Method: "POST"}, nil); err == nil || asked.Load() != 1 {
			t.Errorf("Do() of what is no read = %v after %d requests, want a failure after 1", err, asked.Load())
		}
	})
}

// The preference follows measured health without swinging at every change.
func TestPreferenceFollowsHealthSlowly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, 400*time.Millisecond, 20*time.Millisecond)
		first := func() string {
			for _, h := range p.pool.Health() {
				if h.Preferred {
					return h.Endpoint
				}
			}
			return ""
		}
		for range 30 {
			p.ask(t)
		}
		if first() != "a" {
			t.Fatalf("%s is preferred before the other was seen at work", first())
		}
		for range 300 { // five minutes, in which the other one is called only to measure it
			p.ask(t)
			<-time.After(time.Second)
		}
		if first() != "b" {
			t.Fatalf("%s is preferred, want the much faster one", first())
		}
		p.a, p.b = 30*time.Millisecond, 40*time.Millisecond
		for range 300 {
			p.ask(t)
			<-time.After(time.Second)
		}
		if first() != "b" {
			t.Errorf("%s is preferred, want to stay with one that is a little slower", first())
		}
	})
}

// TestWrongAnswersDoNotUseUpRetries: an endpoint that answers is not overloaded, so the next one may always be tried
// after a wrong answer.
func TestWrongAnswersDoNotUseUpRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		none, wrong := time.Duration(0), errors.New("wrong")
		var asked [2]atomic.Int64
		pool := upstream.NewPool("pool", pooltest.Endpoint(t, "a", after(&none, &asked[0], "a")), pooltest.Endpoint(t, "b", after(&none, &asked[1], "b")))
		for i := range 400 {
			try := func(ctx context.Context, e *upstream.Endpoint, turn int) upstream.Reply {
				made := judged{Attempt: e.Attempt(ctx, upstream.Request{}, turn)}
				if e.Name() == "a" && i%3 == 0 {
					made.fault = wrong
				}
				return made
			}
			if _, err := pool.Run(t.Context(), upstream.Job{IsRead: true, Avoid: []string{"b"}, Try: try}); err != nil {
				t.Fatalf("request %d: %v", i, err)
			}
		}
		if asked[1].Load() != 134 {
			t.Errorf("the other endpoint was asked %d times, want for each wrong answer of 134", asked[1].Load())
		}
	})
}

// judged is a reply whose Judge returns fault.
type judged struct {
	*upstream.Attempt
	fault error
}

func (j judged) Judge(context.Context) error { return j.fault }

func TestPanicOfATryReachesTheCaller(t *testing.T) {
	pool := upstream.NewPool("pool", pooltest.Endpoint(t, "a", func(*http.Request) (*http.Response, error) { panic("transport") }))
	defer func() {
		if got := fmt.Sprint(recover()); got != "transport" {
			t.Errorf("recovered %q, want the panic of the transport", got)
		}
	}()
	_, _ = pool.Do(context.Background(), upstream.Request{}, nil)
}
