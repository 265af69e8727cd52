package upstream

import (
	"slices"
	"sync"
	"time"
)

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
