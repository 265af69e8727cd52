package upstream

import (
	"slices"
	"sync"
	"time"
)

const (
	// largestProbe bounds a request that is kept to be repeated, in bytes.
	largestProbe = 1 << 10
	// soonAnswered is how long the answer to such a request may take, so that it takes longer than probeLimit only when
	// the endpoint has become worse.
	soonAnswered = time.Second
	// replaysKept is how many of them are kept, and replaysEvery how far they are apart: no caller alone must choose
	// all of them at once.
	replaysKept  = 3
	replaysEvery = 10 * time.Second
)

// controls are the requests by which an endpoint is probed.
type controls struct {
	mu      sync.Mutex
	replays []Request // that it answered well and soon, the newest last
	newest  time.Time // of them
	own     Request   // that no caller has a part in
	failed  Request   // the last that it failed at; bare: none
}

// all are the requests that an endpoint must fail at before it counts as broken: those it answered well at different
// times and, while these are few, one without a caller, or its bare address. To count as recovered it must answer one
// of these, or what it failed at last, since its address need not answer.
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

// learn remembers a request that ended: once in a while one that was answered soon. Nothing that is asked here changes
// anything, whatever its method.
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

// isBare reports whether a request asks for the endpoint's address alone.
func isBare(r Request) bool {
	return r.Path == "" && r.Body == nil && r.Query == "" && len(r.Header) == 0
}
