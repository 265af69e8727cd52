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

// breaker keeps calls away from a failing endpoint. Failures only raise suspicion, since callers may cause them, and
// Endpoint.verify investigates. An open breaker admits no caller as a trial; it closes when a probe is answered.
type breaker struct {
	endpoint  string       // its name
	failed    atomic.Int32 // calls in a row, at most breakerWindow apart
	newest    atomic.Int64 // when the last of them failed, UNIX nanoseconds
	suspected atomic.Bool
	opened    atomic.Bool
	closed    atomic.Int64 // when it last closed, UNIX nanoseconds
	reopens   atomic.Int64 // when the next probe is due, UNIX nanoseconds
}

// answered reports whether the endpoint did its work, whether or not its answer was accepted.
func answered(err error) bool {
	class := ClassOf(err)
	return err == nil || class == Rejected
}

// learn records the outcome of a call; recent is the endpoint's health, which already includes it.
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

// isSuspecting reports whether enough failures have accumulated for suspicion and have not been verified yet.
func (b *breaker) isSuspecting() bool { return b.suspected.Load() && !b.opened.Load() }

func (b *breaker) refusal() error {
	return &Error{Class: BreakerOpen, Endpoint: b.endpoint, RetryAfter: b.untilProbe()}
}

// untilProbe returns the time until the next probe, but at least a second: the probe may be under way.
func (b *breaker) untilProbe() time.Duration {
	return max(time.Until(time.Unix(0, b.reopens.Load())), time.Second)
}
