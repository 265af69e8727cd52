package upstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// How long an endpoint that was proven wrong stays in quarantine, or one that denies us access is left alone: first
// firstQuarantine, then quarantineGrowth times as long each time, up to longestQuarantine or longestClosed.
const (
	firstQuarantine   = time.Minute
	quarantineGrowth  = 5
	longestQuarantine = 30 * time.Minute
	longestClosed     = 6 * time.Hour
)

// usability says whether an endpoint may be called at all.
type usability struct {
	cordoned   atomic.Bool
	quarantine quarantine // for wrong answers
	closed     quarantine // for denying us access
}

// quarantine keeps an endpoint out of use for a while, longer each time.
type quarantine struct {
	mu    sync.Mutex
	until time.Time
	times int // how often in a row, without the longest term of good conduct in between
	cause error
}

// extend begins a quarantine and returns its length: zero if one had begun already, while the answer was in flight.
func (q *quarantine) extend(now time.Time, cause error, longest time.Duration) time.Duration {
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
	q.until, q.cause = now.Add(term), cause
	return term
}

func (q *quarantine) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.until, q.times = time.Time{}, 0
}

// left returns how long the quarantine still lasts, and why; zero and nil if there is none.
func (q *quarantine) left(now time.Time) (time.Duration, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !now.Before(q.until) {
		return 0, nil
	}
	return q.until.Sub(now), q.cause
}

var errCordoned = errors.New("cordoned by an operator")

// now returns ready if the endpoint may be called, else why not and for how long.
func (u *usability) now() (is standing, left time.Duration, cause error) {
	if u.cordoned.Load() {
		return cordoned, 0, errCordoned
	}
	now := time.Now()
	if left, cause := u.quarantine.left(now); left > 0 {
		return quarantined, left, fmt.Errorf("quarantined for a wrong answer: %w", cause)
	}
	if left, cause := u.closed.left(now); left > 0 {
		return closed, left, fmt.Errorf("access denied: %s", cause)
	}
	return ready, 0, nil
}

func (e *Endpoint) unusable() error {
	is, left, cause := e.usability.now()
	if is == ready {
		return nil
	}
	return &Error{Class: Unusable, Endpoint: e.name, RetryAfter: left, Err: cause}
}

// Cordon takes the endpoint out of use until Uncordon. Requests in flight continue.
func (e *Endpoint) Cordon() { e.usability.cordoned.Store(true) }

// Uncordon returns the endpoint to use, even out of quarantine or after it denied us access.
func (e *Endpoint) Uncordon() {
	e.usability.cordoned.Store(false)
	e.usability.quarantine.end()
	e.usability.closed.end()
}

// Quarantine takes the endpoint out of use for a while because it was proven wrong: it failed its identity check, or
// gave an answer that a second endpoint contradicts.
func (e *Endpoint) Quarantine(ctx context.Context, cause error) {
	cause = e.badAnswer(Request{}, cause)
	if term := e.usability.quarantine.extend(time.Now(), cause, longestQuarantine); term > 0 {
		e.log.WarnContext(ctx, "endpoint quarantined for a wrong answer", "endpoint", e.name, "for", term, "error", cause)
	}
}

// close takes an endpoint that denies us access out of use. The first time it is tried again after a minute: the denial
// may have concerned only one call.
func (e *Endpoint) close(ctx context.Context, said *Error) {
	longest := cmp.Or(min(said.RetryAfter, longestClosed), longestClosed)
	if term := e.usability.closed.extend(time.Now(), said, longest); term > 0 {
		e.log.WarnContext(ctx, "endpoint denies access", "endpoint", e.name, "for", term, "error", said)
	}
}
