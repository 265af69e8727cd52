package upstream

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"
)

const (
	// leastToConvict is how many controls an endpoint must fail before its breaker opens: one that fails a fifth of its
	// requests is still usable.
	leastToConvict = 4
	// firstProbe is the delay, jittered, after which an endpoint whose breaker opened is probed; it doubles for each
	// further probe, up to longestProbe.
	firstProbe   = time.Second
	longestProbe = 10 * time.Second
	// probeLimit is how long an answer to a probe may take.
	probeLimit = 3 * time.Second
	// verifiedFor is how long an endpoint that was found sound is not verified again.
	verifiedFor = 5 * time.Second
)

// SetControl sets a request, not influenced by any caller, to probe the endpoint with while few requests are known that
// it answered well.
func (e *Endpoint) SetControl(r Request) {
	e.controls.mu.Lock()
	defer e.controls.mu.Unlock()
	e.controls.own = r
}

// MayBeProbed reports whether the endpoint may be called merely to learn about it.
func (e *Endpoint) MayBeProbed() bool { return e.standing() < away }

// InBackground starts work that no caller waits for, unless other such work is under way or the endpoint is closed.
func (e *Endpoint) InBackground(work func(context.Context)) (begun bool) { return e.worker.begin(work) }

// Probe sends r as background work, to learn about the endpoint.
func (e *Endpoint) Probe(ctx context.Context, r Request) (Response, error) {
	ctx, cancel := context.WithTimeout(Background.For(ctx), e.exchanger.timeout)
	defer cancel()
	a, wrong := e.Attempt(ctx, r, 1), error(nil)
	if a.Err == nil && r.Check != nil {
		wrong = r.Check(a.Response)
	}
	return a.Response, a.Settle(ctx, wrong)
}

// verify finds out, in the background, whether the failures that raised suspicion are the endpoint's own: if all
// controls fail, the breaker opens until one succeeds.
func (e *Endpoint) verify() {
	if !e.breaker.isSuspecting() || time.Since(time.Unix(0, e.breaker.closed.Load())) < verifiedFor {
		return
	}
	e.worker.begin(func(ctx context.Context) {
		switch e.verdict(ctx) {
		case sound:
			e.breaker.close()
		case broken:
			e.breaker.opened.Store(true)
			e.awaitRecovery(ctx)
		}
	})
}

// verdict examines the endpoint until it answers a control or has failed leastToConvict, within the time of one probe.
func (e *Endpoint) verdict(ctx context.Context) condition {
	ctx, cancel := context.WithTimeout(ctx, min(e.exchanger.timeout, probeLimit))
	defer cancel()
	controls := e.controls.all(false)
	found := e.examine(ctx, controls, false)
	for failed := len(controls); found == broken && failed < leastToConvict && ctx.Err() == nil; failed += len(controls) {
		found = e.examine(ctx, controls, false)
	}
	return found
}

// awaitRecovery closes the breaker when the endpoint shows a sign of recovery. After a while any answer at its address
// will do: the requests that it failed may have been at fault, and it may not be known to answer any others.
func (e *Endpoint) awaitRecovery(ctx context.Context) {
	for wait := firstProbe; e.breaker.opened.Load(); wait = min(2*wait, longestProbe) {
		jittered := wait + rand.N(wait/4) // endpoints that failed together must not be probed together
		e.breaker.reopens.Store(time.Now().Add(jittered).UnixNano())
		if sleep(ctx, jittered) != nil {
			return
		}
		if e.breaker.opened.Load() && e.examine(ctx, e.controls.all(true), wait == longestProbe) == sound {
			e.breaker.close()
		}
	}
}

// condition is the state of an endpoint as its controls show it.
type condition uint8

const (
	unknown condition = iota // it could not be asked
	broken
	sound
)

// examine sends requests concurrently, past the breaker; one that is answered is enough. With anyAnswer, so is anything
// but a server error from the endpoint's bare address.
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
				cancel() // the other requests end before this returns
			}
		}
	}
	return found
}

// answers sends one request and returns the condition that its outcome shows.
func (e *Endpoint) answers(ctx context.Context, r Request, anyAnswer bool) (found condition) {
	defer func() {
		if recover() != nil {
			found = broken // just as for a caller's request that panics
		}
	}()
	if e.unusable() != nil {
		return unknown
	}
	if _, ok, err := e.budget.Take(ctx, e.budget.unitsOf(r)); !ok || err != nil {
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
	e.health.note(r.Kind, time.Since(started), err)
	switch {
	case answered(err), anyAnswer && response.Status != 0 && response.Status < http.StatusInternalServerError:
		return sound
	case IsFault(err):
		return broken
	}
	return unknown
}

const (
	// largestProbe is the largest request body, in bytes, that is kept to be repeated.
	largestProbe = 1 << 10
	// soonAnswered is how long the answer to such a request may have taken: a repetition then exceeds probeLimit only
	// if the endpoint has become worse.
	soonAnswered = time.Second
	// replaysKept is how many such requests are kept, and replaysEvery the least time between two of them: no single
	// caller may choose all of them at once.
	replaysKept  = 3
	replaysEvery = 10 * time.Second
)

// controls are the requests that an endpoint is probed with.
type controls struct {
	mu      sync.Mutex
	replays []Request // requests it answered well and soon, the newest last
	newest  time.Time // when the newest of replays was added
	own     Request   // not influenced by any caller
	failed  Request   // the last that it failed; bare: none
}

// all returns the requests that an endpoint must fail to count as broken: those it answered well at different times
// and, while these are few, our own control or its bare address. To count as recovered it must answer one of these or,
// with andFailed, the one it failed last, since its bare address need not answer.
func (c *controls) all(andFailed bool) []Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := slices.Clip(c.replays)
	if len(known) < replaysKept {
		known = append(known, c.own)
	}
	if andFailed && !isBare(c.failed) {
		known = append(known, c.failed)
	}
	return known
}

// learn remembers a finished request: the latest that failed and, once in a while, one that was answered soon. Requests
// are safe to repeat whatever their method: none of them changes anything.
func (c *controls) learn(r Request, took time.Duration, outcome error) {
	if len(r.Body) > largestProbe {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch now := time.Now(); {
	case IsFault(outcome):
		c.failed = r
	case outcome == nil && took <= soonAnswered && now.Sub(c.newest) >= replaysEvery:
		c.newest = now
		c.replays = append(c.replays[max(len(c.replays)-replaysKept+1, 0):len(c.replays):len(c.replays)], r)
	}
}

// isBare reports whether a request only asks for the endpoint's address.
func isBare(r Request) bool {
	return r.Path == "" && r.Body == nil && r.Query == "" && len(r.Header) == 0
}
