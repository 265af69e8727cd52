package upstream

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"
)

// Rules of every endpoint's breaker: five failures in a row, or half of at least twenty calls within the
// window, make it suspect its endpoint.
const (
	breakerWindow      = time.Minute
	breakerBucket      = 10 * time.Second
	consecutiveLimit   = 5
	ratioLeastRequests = 20

	// openedFor is longer than any process runs: an open breaker closes when its endpoint has answered a probe, and
	// no caller is ever let in to try. gobreaker would let one in, and keep all others out until that one is done.
	openedFor = 10 * 365 * 24 * time.Hour
)

// breaker keeps calls away from an endpoint that fails. Failed calls alone do not open it, since callers may have
// caused the failures: they make it suspect the endpoint, and Endpoint.verify finds out. Whoever is let in must call
// the done function that comes with it.
type breaker struct {
	steps     atomic.Pointer[gobreaker.TwoStepCircuitBreaker[struct{}]]
	settled   gobreaker.Settings
	suspected atomic.Bool
	convicted atomic.Bool
	closed    atomic.Int64 // UNIX nanoseconds at which it was closed last
	reopens   atomic.Int64 // UNIX nanoseconds of the next probe
	forced    atomic.Int32 // a Force
}

// Force is how an operator overrides a breaker.
type Force int32

// The overrides.
const (
	Unforced    Force = iota // it goes by the endpoint's health
	ForceOpen                // keeps all calls away
	ForceClosed              // lets all calls in
)

func newBreaker(name string) *breaker {
	b := &breaker{}
	b.settled = gobreaker.Settings{
		Name:         name,
		Interval:     breakerWindow,
		BucketPeriod: breakerBucket,
		Timeout:      openedFor,
		ReadyToTrip:  b.mayTrip,
		IsSuccessful: answered,
		IsExcluded:   func(err error) bool { return !answered(err) && !IsFault(err) },
	}
	b.renew()
	return b
}

// renew forgets all failures. gobreaker has no way to close an open breaker, so a new one replaces it; calls that
// the old one let in report to that.
func (b *breaker) renew() {
	b.steps.Store(gobreaker.NewTwoStepCircuitBreaker[struct{}](b.settled))
	b.suspected.Store(false)
}

// answered reports whether the endpoint did its work, whether or not its answer was accepted.
func answered(err error) bool {
	class := ClassOf(err)
	return err == nil || class == Rejected || class == Unconfirmed
}

// mayTrip runs under gobreaker's mutex after each failure: calling the breaker from here would deadlock.
func (b *breaker) mayTrip(counts gobreaker.Counts) bool {
	decided := counts.TotalSuccesses + counts.TotalFailures
	if counts.ConsecutiveFailures >= consecutiveLimit || decided >= ratioLeastRequests && 2*counts.TotalFailures >= decided {
		b.suspected.Store(true)
	}
	return b.convicted.Load()
}

var errConvicted = errors.New("failed its probes")

// open keeps calls away until close.
func (b *breaker) open() {
	b.convicted.Store(true)
	defer b.convicted.Store(false)
	if done, err := b.steps.Load().Allow(); err == nil {
		done(errConvicted)
	}
}

// close lets calls in and forgets all failures.
func (b *breaker) close() {
	b.renew()
	b.closed.Store(time.Now().UnixNano())
}

// isClosed reports whether calls are let in.
func (b *breaker) isClosed() bool {
	switch Force(b.forced.Load()) {
	case ForceOpen:
		return false
	case ForceClosed:
		return true
	}
	return !b.hasOpened()
}

// hasOpened reports whether the endpoint's failures keep calls away, whatever operators override.
func (b *breaker) hasOpened() bool { return b.steps.Load().State() != gobreaker.StateClosed }

// isSuspecting reports whether failures have added up and have not been verified yet.
func (b *breaker) isSuspecting() bool { return b.suspected.Load() && !b.hasOpened() }

// enter lets a call in.
func (b *breaker) enter() (done func(error), ok bool) {
	if !b.isClosed() {
		return nil, false
	}
	done, err := b.steps.Load().Allow()
	if err != nil { // it has opened, which does not matter while it is forced closed
		return func(error) {}, Force(b.forced.Load()) == ForceClosed
	}
	return done, true
}

// force sets an operator's override; without one again, the breaker starts afresh.
func (b *breaker) force(how Force) {
	b.forced.Store(int32(how))
	if how == Unforced {
		b.close()
	}
}

var errForced = errors.New("held open by an operator")

// refusal is the error of a call that the breaker keeps away.
func (b *breaker) refusal() error {
	refusal := &Error{Class: BreakerOpen, Endpoint: b.settled.Name, RetryAfter: b.untilProbe()}
	if Force(b.forced.Load()) == ForceOpen {
		refusal.Err, refusal.RetryAfter = errForced, 0
	}
	return refusal
}

// expectProbe sets when the next probe begins.
func (b *breaker) expectProbe(after time.Duration) {
	b.reopens.Store(time.Now().Add(after).UnixNano())
}

// untilProbe returns the time until the next probe may begin, a moment when one is under way.
func (b *breaker) untilProbe() time.Duration {
	return max(time.Until(time.Unix(0, b.reopens.Load())), time.Second)
}
