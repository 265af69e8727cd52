package upstream

import (
	"sync"
	"sync/atomic"
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
	replays replays
	own     atomic.Pointer[Request] // that no caller has a part in; nil: none is known
	failed  atomic.Pointer[Request] // the last that the endpoint failed at; nil: none
}

// all are what an endpoint must fail at before it is taken for broken: what it answered well at different times,
// and while these are few the request that no caller has a part in, or what is at its address.
func (c *controls) all() []Request {
	known := c.replays.all()
	if len(known) == replaysKept {
		return known
	}
	own := Request{}
	if given := c.own.Load(); given != nil {
		own = *given
	}
	return append(known[:len(known):len(known)], own)
}

// signs are requests one of which an endpoint must answer to be taken for recovered: all controls, and what it failed
// at last, since there need not be anything at its address.
func (c *controls) signs() []Request {
	signs := c.all()
	if failed := c.failed.Load(); failed != nil && !isBare(*failed) {
		signs = append(signs[:len(signs):len(signs)], *failed)
	}
	return signs
}

// learn remembers a request that ended.
func (c *controls) learn(r Request, took time.Duration, outcome error) {
	switch {
	case outcome == nil:
		c.replays.keep(r, took)
	case IsFault(outcome) && isSmall(r):
		failed := r
		c.failed.Store(&failed)
	}
}

// isBare reports whether a request asks for what is at the endpoint's address.
func isBare(r Request) bool {
	return r.Path == "" && r.Body == nil && len(r.Query) == 0 && len(r.Header) == 0
}

// isSmall reports whether a request may be repeated by probes. Nothing that is asked here changes anything, whatever
// its method.
func isSmall(r Request) bool { return len(r.Body) <= largestProbe }

// replays are requests that an endpoint answered well and soon: what a sound endpoint can answer.
type replays struct {
	admitted atomic.Int64 // UNIX nanoseconds of the newest

	mu   sync.Mutex
	kept []Request // the newest is last
}

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
