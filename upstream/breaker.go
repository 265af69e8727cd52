package upstream

import (
	"sync/atomic"
	"time"
)

// Five failures in a row, or half of at least twenty recent calls, make a breaker suspect its endpoint.
const (
	breakerWindow      = time.Minute
	consecutiveLimit   = 5
	ratioLeastRequests = 20
	ratioLimit         = 0.5
)

// breaker keeps calls away from an endpoint that fails. Failed calls only make it suspect the endpoint, since callers
// may have caused them, and Endpoint.verify finds out. It closes when a probe is answered; no caller is let in to try.
type breaker struct {
	endpoint  string       // its name
	failed    atomic.Int32 // calls in a row, no two of them further apart than breakerWindow
	newest    atomic.Int64 // of them, UNIX nanoseconds
	suspected atomic.Bool
	opened    atomic.Bool
	closed    atomic.Int64 // UNIX nanoseconds at which it was closed last
	reopens   atomic.Int64 // UNIX nanoseconds of the next probe
}

// answered reports whether the endpoint did its work, whether or not its answer was accepted.
func answered(err error) bool {
	class := ClassOf(err)
	return err == nil || class == Rejected
}

// learn counts the outcome of a call; recent is the endpoint's health with it.
func (b *breaker) learn(err error, recent *health) {
	if answered(err) {
		b.failed.Store(0)
		return
	}
	if !IsFault(err) {
		return
	}
	now := time.Now().UnixNano()
	if now-b.newest.Swap(now) > int64(breakerWindow) {
		b.failed.Store(0)
	}
	calls, failing := recent.failing()
	if b.failed.Add(1) >= consecutiveLimit || calls >= ratioLeastRequests && failing >= ratioLimit {
		b.suspected.Store(true)
	}
}

func (b *breaker) close() {
	b.failed.Store(0)
	b.suspected.Store(false)
	b.opened.Store(false)
	b.closed.Store(time.Now().UnixNano())
}

func (b *breaker) isClosed() bool { return !b.opened.Load() }

// isSuspecting reports whether failures have added up and have not been verified yet.
func (b *breaker) isSuspecting() bool { return b.suspected.Load() && !b.opened.Load() }

func (b *breaker) refusal() error {
	return &Error{Class: BreakerOpen, Endpoint: b.endpoint, RetryAfter: b.untilProbe()}
}

// untilProbe returns the time until the next probe may begin, a moment when one is under way.
func (b *breaker) untilProbe() time.Duration {
	return max(time.Until(time.Unix(0, b.reopens.Load())), time.Second)
}
