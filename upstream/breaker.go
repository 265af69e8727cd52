package upstream

import (
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"
)

// Rules of every endpoint's breaker: five failures in a row, or half of at least twenty calls within the
// window, open it; after openTime one probe at a time decides whether it closes.
const (
	breakerWindow      = time.Minute
	breakerBucket      = 10 * time.Second
	openTime           = 10 * time.Second
	consecutiveLimit   = 5
	ratioLeastRequests = 20
)

// breaker keeps calls away from an endpoint that fails. Whoever is let in must call the done function
// that comes with it; a probe cannot hold the half-open state longer than its own timeout.
type breaker struct {
	steps   atomic.Pointer[gobreaker.TwoStepCircuitBreaker[struct{}]]
	settled gobreaker.Settings
	reopens atomic.Int64 // UNIX nanoseconds of the next probe
}

func newBreaker(name string) *breaker {
	b := &breaker{}
	// Endpoints that fell together must not be probed together.
	open := openTime + rand.N(openTime/5)
	b.settled = gobreaker.Settings{
		Name:         name,
		MaxRequests:  1,
		Interval:     breakerWindow,
		BucketPeriod: breakerBucket,
		Timeout:      open,
		ReadyToTrip:  readyToTrip,
		IsSuccessful: answered,
		IsExcluded:   func(err error) bool { return !answered(err) && !countsAgainst(err) },
		// Runs under gobreaker's mutex: nothing but the store may happen here.
		OnStateChange: func(_ string, _, to gobreaker.State) {
			if to == gobreaker.StateOpen {
				b.reopens.Store(time.Now().Add(open).UnixNano())
			}
		},
	}
	b.close()
	return b
}

// close forgets all failures. gobreaker has no way to close an open breaker, so a new one takes its place; what
// was let in by the old one settles with that.
func (b *breaker) close() {
	b.steps.Store(gobreaker.NewTwoStepCircuitBreaker[struct{}](b.settled))
}

// answered reports whether the endpoint did its work, whatever became of the answer.
func answered(err error) bool {
	class := classOf(err)
	return err == nil || class == Rejected || class == Unconfirmed
}

func readyToTrip(counts gobreaker.Counts) bool {
	if counts.ConsecutiveFailures >= consecutiveLimit {
		return true
	}
	decided := counts.TotalSuccesses + counts.TotalFailures
	return decided >= ratioLeastRequests && 2*counts.TotalFailures >= decided
}

// isOpen reports whether calls are refused outright.
func (b *breaker) isOpen() bool { return b.steps.Load().State() == gobreaker.StateOpen }

// isClosed reports whether calls are let in without limit.
func (b *breaker) isClosed() bool { return b.steps.Load().State() == gobreaker.StateClosed }

// enter lets a call in, or says after what time to ask again.
func (b *breaker) enter() (done func(error), retryAfter time.Duration, ok bool) {
	done, err := b.steps.Load().Allow()
	if err != nil {
		return nil, b.untilProbe(), false
	}
	return done, 0, true
}

// expectProbe says when the next probe begins.
func (b *breaker) expectProbe(after time.Duration) {
	b.reopens.Store(time.Now().Add(after).UnixNano())
}

// untilProbe returns the time until the next probe may begin, a moment when one is under way.
func (b *breaker) untilProbe() time.Duration {
	return max(time.Until(time.Unix(0, b.reopens.Load())), time.Second)
}
