package upstream

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// largestProbe bounds a request that is kept to be repeated, in bytes and in calls.
	largestProbe      = 4 << 10
	largestProbeCalls = 4
	// soonAnswered is how long the answer to such a request may take, so that it takes longer than probeLimit only when
	// the endpoint has become worse.
	soonAnswered = time.Second
	probeLimit   = 3 * time.Second
	// replaysKept is how many of them are kept, and replaysEvery how far they are apart: no caller alone must choose
	// all of them at once.
	replaysKept  = 3
	replaysEvery = 10 * time.Second
	// leastToConvict is how many controls an endpoint fails at before its breaker opens: one that fails at a fifth of
	// what it is asked is not away.
	leastToConvict = 4
	// firstProbe is when an endpoint whose breaker opened is probed, jittered; then after twice as long, up to
	// longestProbe.
	firstProbe   = time.Second
	longestProbe = 10 * time.Second
	// verifiedFor is for how long an endpoint that was found sound is not verified again.
	verifiedFor = 5 * time.Second
)

// replays are requests that an endpoint answered well and soon: what a sound endpoint can answer.
type replays struct {
	admitted atomic.Int64 // UNIX nanoseconds of the newest

	mu   sync.Mutex
	kept []Request // the newest is last
}

// isSmall reports whether a request may be repeated by probes. Nothing that is asked here changes anything, whatever
// its method.
func isSmall(r Request) bool { return len(r.Body) <= largestProbe && r.Calls <= largestProbeCalls }

// keep remembers an answered request once in a while.
func (s *replays) keep(r Request, took time.Duration) {
	if took > soonAnswered || !isSmall(r) {
		return
	}
	now, last := time.Now(), s.admitted.Load()
	if last != 0 && now.Sub(time.Unix(0, last)) < replaysEvery || !s.admitted.CompareAndSwap(last, now.UnixNano()) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = append(s.kept[max(len(s.kept)-replaysKept+1, 0):len(s.kept):len(s.kept)], r)
}

func (s *replays) all() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept
}

// latest returns the newest of them, if there is one.
func (s *replays) latest() (newest Request, found bool) {
	all := s.all()
	if len(all) == 0 {
		return Request{}, false
	}
	return all[len(all)-1], true
}

// SetControl has the endpoint probed with r, which no caller has a part in, while few requests are known that it
// answered well.
func (e *Endpoint) SetControl(r Request) { e.control.Store(&r) }

// controls are what an endpoint must fail at before it is taken for broken: what it answered well at different times,
// and while these are few the request that no caller has a part in, or what is at its address.
func (e *Endpoint) controls() []Request {
	controls := e.replays.all()
	if len(controls) == replaysKept {
		return controls
	}
	own := Request{}
	if control := e.control.Load(); control != nil {
		own = *control
	}
	return append(controls[:len(controls):len(controls)], own)
}

// signs are requests one of which an endpoint must answer to be taken for recovered: its controls, and what it failed
// at last, since there need not be anything at its address.
func (e *Endpoint) signs() []Request {
	signs := e.controls()
	if failed := e.failed.Load(); failed != nil && !isBare(*failed) {
		signs = append(signs[:len(signs):len(signs)], *failed)
	}
	return signs
}

// isBare reports whether a request asks for what is at the endpoint's address.
func isBare(r Request) bool {
	return r.Path == "" && r.Body == nil && len(r.Query) == 0 && len(r.Header) == 0
}

// probe sends r in the background, for the sake of what can be learned of the endpoint by it.
func (e *Endpoint) probe(ctx context.Context, r Request) (Response, error) {
	ctx, cancel := context.WithTimeout(InBackground(ctx), e.exchanger.timeout)
	defer cancel()
	a := e.Attempt(ctx, r, Turn{number: 1})
	return a.Response, a.Settle(ctx, a.check())
}

// check is what is wrong with the response by the request's own Check.
func (a *Attempt) check() error {
	if a.Err != nil || a.request.Check == nil {
		return nil
	}
	return a.request.Check(a.Response)
}

// verify finds out whether the failures that made the breaker suspect the endpoint are its own: then all controls
// fail, and the breaker opens until one succeeds. When one succeeds at once, the requests were at fault. No caller
// waits for this.
func (e *Endpoint) verify() {
	if !e.breaker.isSuspecting() || time.Since(time.Unix(0, e.breaker.closed.Load())) < verifiedFor {
		return
	}
	e.inBackground(func(ctx context.Context) {
		switch e.verdict(ctx) {
		case sound:
			e.breaker.close()
		case broken:
			e.breaker.open()
			e.awaitRecovery(ctx)
		}
	})
}

// verdict examines the endpoint until it has failed at leastToConvict controls, within the time of one that hangs.
func (e *Endpoint) verdict(ctx context.Context) condition {
	ctx, cancel := context.WithTimeout(ctx, min(e.exchanger.timeout, probeLimit))
	defer cancel()
	controls := e.controls()
	found := e.examine(ctx, controls, false)
	for failed := len(controls); found == broken && failed < leastToConvict && ctx.Err() == nil; failed += len(controls) {
		found = e.examine(ctx, controls, false)
	}
	return found
}

// awaitRecovery closes the breaker when the endpoint shows a sign of recovery. After a while any answer at its address
// will do: what it failed at may have been at fault, and nothing else may be known that it can answer.
func (e *Endpoint) awaitRecovery(ctx context.Context) {
	for wait := firstProbe; e.breaker.hasOpened(); wait = min(2*wait, longestProbe) {
		jittered := wait + rand.N(wait/4) // endpoints that failed together must not be probed together
		e.breaker.expectProbe(jittered)
		if sleep(ctx, jittered) != nil {
			return
		}
		if e.breaker.hasOpened() && e.examine(ctx, e.signs(), wait == longestProbe) == sound {
			e.breaker.close()
		}
	}
}

// condition is the state of an endpoint by its controls.
type condition uint8

const (
	unknown condition = iota // nothing: it could not be asked
	broken
	sound
)

// examine sends requests at once, past the breaker; the first that is answered is enough. With anyAnswer, that its
// address answers with anything but a server error is enough as well.
func (e *Endpoint) examine(ctx context.Context, requests []Request, anyAnswer bool) condition {
	ctx, cancel := context.WithTimeout(ctx, min(e.exchanger.timeout, probeLimit))
	defer cancel()
	results := make(chan condition, len(requests))
	for _, r := range requests {
		go func() { results <- e.answers(ctx, r, anyAnswer && isBare(r)) }()
	}
	found := unknown
	for range requests {
		if each := <-results; each > found {
			found = each
			if found == sound {
				cancel() // the others end before this returns
			}
		}
	}
	return found
}

// answers sends one of them.
func (e *Endpoint) answers(ctx context.Context, r Request, anyAnswer bool) (found condition) {
	defer func() {
		if recover() != nil {
			found = broken // as a panic of a caller's request counts
		}
	}()
	if e.usability.err() != nil {
		return unknown
	}
	if _, ok, err := e.budget.take(ctx, e.unitsOf(r)); !ok || err != nil {
		return unknown
	}
	asked, started := context.WithoutCancel(ctx), time.Now()
	response, err := e.exchanger.exchange(ctx, asked, r)
	if err == nil && r.Check != nil {
		err = e.badAnswer(r, r.Check(response))
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return unknown
	}
	e.health.note(r.RPCMethod, time.Since(started), err)
	switch {
	case answered(err), anyAnswer && response.Status != 0 && response.Status < http.StatusInternalServerError:
		return sound
	case IsFault(err):
		return broken
	}
	return unknown
}

// inBackground runs work unless work is under way or the endpoint is closed.
func (e *Endpoint) inBackground(work func(context.Context)) (begun bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.isClosed || e.isProbing {
		return false
	}
	ctx, cancel := context.WithCancel(context.Background())
	e.isProbing, e.stopProbe = true, cancel
	e.working.Go(func() {
		defer cancel()
		work(ctx)
		e.mu.Lock()
		defer e.mu.Unlock()
		e.isProbing = false
	})
	return true
}

// Close ends what the endpoint does in the background and closes connections that wait for further use.
func (e *Endpoint) Close() {
	e.mu.Lock()
	e.isClosed = true
	if e.stopProbe != nil {
		e.stopProbe()
	}
	e.mu.Unlock()
	e.working.Wait()
	e.exchanger.client.CloseIdleConnections()
}
