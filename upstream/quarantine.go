package upstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// How long an endpoint that was proven wrong stays in quarantine, or one that is closed to us is left alone: at first firstQuarantine, then quarantineGrowth
// times as long each time, up to what its options say.
const (
	firstQuarantine          = time.Minute
	quarantineGrowth         = 5
	defaultLongestQuarantine = 30 * time.Minute
)

// quarantine keeps an endpoint out of use that was proven wrong.
type quarantine struct {
	mu     sync.Mutex
	until  time.Time
	times  int // without as much time of good conduct as the longest quarantine takes
	reason string
}

// extend begins a quarantine and returns its length, zero for an answer that was under way when another one began.
func (q *quarantine) extend(now time.Time, reason string, longest time.Duration) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	if now.Before(q.until) {
		return 0
	}
	if now.Sub(q.until) >= longest {
		q.times = 0
	}
	term := firstQuarantine
	for range q.times {
		term = min(term*quarantineGrowth, longest)
	}
	term = min(term, longest)
	q.times++
	q.until, q.reason = now.Add(term), reason
	return term
}

// left returns how long the quarantine still lasts, and why; nothing when there is none.
func (q *quarantine) left(now time.Time) (time.Duration, string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !now.Before(q.until) {
		return 0, ""
	}
	return q.until.Sub(now), q.reason
}

// Quarantine takes the endpoint out of use for a while: it was proven wrong. It failed at its identity, or gave an
// answer that a second endpoint contradicts.
func (e *Endpoint) Quarantine(ctx context.Context, cause error) {
	reason := e.badAnswer(Request{}, cause).Error()
	term := e.quarantine.extend(time.Now(), reason, e.longestQuarantine)
	if term > 0 && e.log != nil {
		e.log.WarnContext(ctx, "endpoint quarantined for a wrong answer", "endpoint", e.name, "for", term.String(), "error", reason)
	}
}

// Cordon takes the endpoint out of use until Uncordon. Requests that it is serving go on.
func (e *Endpoint) Cordon() { e.cordoned.Store(true) }

// Uncordon puts the endpoint into use again.
func (e *Endpoint) Uncordon() { e.cordoned.Store(false) }

// ForceBreaker has an operator decide what the breaker does. Unforced, it starts afresh.
func (e *Endpoint) ForceBreaker(how Force) { e.breaker.force(how) }

// Replace has e go on where other was: cordoned or forced by operators, and with what that spent of its plan.
func (e *Endpoint) Replace(other *Endpoint) {
	e.cordoned.Store(other.cordoned.Load())
	e.breaker.forced.Store(other.breaker.forced.Load())
	e.budget.adopt(other.budget)
}

var (
	errCordoned = errors.New("cordoned by an operator")
	errForced   = errors.New("held open by an operator")
)

// unusable is why the endpoint may not be called at all; nil when it may.
func (e *Endpoint) unusable() error {
	if e.cordoned.Load() {
		return &Error{Class: Unusable, Endpoint: e.name, Err: errCordoned}
	}
	if left, reason := e.quarantine.left(time.Now()); left > 0 {
		return &Error{Class: Unusable, Endpoint: e.name, RetryAfter: left, Err: fmt.Errorf("quarantined for a wrong answer: %s", reason)}
	}
	if left, reason := e.closed.left(time.Now()); left > 0 {
		return &Error{Class: Unusable, Endpoint: e.name, RetryAfter: left, Err: fmt.Errorf("closed to us: %s", reason)}
	}
	return nil
}

// longestClosed is how long an endpoint is left alone at most that is closed to us.
const longestClosed = 6 * time.Hour

// close takes the endpoint out of use that said that it will answer nothing for long. It is tried again after a minute
// at first: what it said may have been about one call.
func (e *Endpoint) close(ctx context.Context, said *Error) {
	term := e.closed.extend(time.Now(), said.Error(), cmp.Or(min(said.RetryAfter, longestClosed), longestClosed))
	if term > 0 && e.log != nil {
		e.log.WarnContext(ctx, "endpoint closed to us", "endpoint", e.name, "for", term.String(), "error", said)
	}
}

// breakerError is the error of a call that the breaker keeps away.
func (e *Endpoint) breakerError() error {
	refusal := &Error{Class: BreakerOpen, Endpoint: e.name, RetryAfter: e.breaker.untilProbe()}
	if Force(e.breaker.forced.Load()) == ForceOpen {
		refusal.Err, refusal.RetryAfter = errForced, 0
	}
	return refusal
}
