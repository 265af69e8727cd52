package upstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// usability is whether an endpoint may be called at all.
type usability struct {
	endpoint          string // its name
	cordoned          atomic.Bool
	quarantine        quarantine // for wrong answers
	longestQuarantine time.Duration
	closed            quarantine // to us, by its own word
}

// standing is ready for an endpoint that may be called.
func (u *usability) standing(now time.Time) standing {
	if u.cordoned.Load() {
		return cordoned
	}
	if left, _ := u.quarantine.left(now); left > 0 {
		return quarantined
	}
	if left, _ := u.closed.left(now); left > 0 {
		return closed
	}
	return ready
}

var errCordoned = errors.New("cordoned by an operator")

// err is why the endpoint may not be called; nil when it may.
func (u *usability) err() error {
	if u.cordoned.Load() {
		return &Error{Class: Unusable, Endpoint: u.endpoint, Err: errCordoned}
	}
	now := time.Now()
	if left, cause := u.quarantine.left(now); left > 0 {
		return &Error{Class: Unusable, Endpoint: u.endpoint, RetryAfter: left, Err: fmt.Errorf("quarantined for a wrong answer: %w", cause)}
	}
	if left, cause := u.closed.left(now); left > 0 {
		return &Error{Class: Unusable, Endpoint: u.endpoint, RetryAfter: left, Err: fmt.Errorf("closed to us: %s", cause)}
	}
	return nil
}

// left returns how long the endpoint is still out of use, and why; nothing when it is not, or is by an operator only.
func (u *usability) left(now time.Time) (left time.Duration, cause error) {
	left, cause = u.closed.left(now)
	if banned, why := u.quarantine.left(now); banned > 0 {
		return max(left, banned), why
	}
	return left, cause
}

// Cordon takes the endpoint out of use until Uncordon. Requests that it is serving go on.
func (e *Endpoint) Cordon() { e.usability.cordoned.Store(true) }

// Uncordon puts the endpoint into use again, out of quarantine as well.
func (e *Endpoint) Uncordon() {
	e.usability.cordoned.Store(false)
	e.usability.quarantine.end()
}

// Quarantine takes the endpoint out of use for a while: it was proven wrong. It failed at its identity, or gave an
// answer that a second endpoint contradicts.
func (e *Endpoint) Quarantine(ctx context.Context, cause error) {
	cause = e.badAnswer(Request{}, cause)
	if term := e.usability.quarantine.extend(time.Now(), cause, e.usability.longestQuarantine); term > 0 {
		e.log.outOfUse(ctx, "endpoint quarantined for a wrong answer", term, cause.Error())
	}
}

// close takes the endpoint out of use that said that it will answer nothing for long. It is tried again after a minute
// at first: what it said may have been about one call.
func (e *Endpoint) close(ctx context.Context, said *Error) {
	longest := cmp.Or(min(said.RetryAfter, longestClosed), longestClosed)
	if term := e.usability.closed.extend(time.Now(), said, longest); term > 0 {
		e.log.outOfUse(ctx, "endpoint closed to us", term, said.Error())
	}
}
