package upstream

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// How long a proven liar is put aside: at first firstBan, then banGrowth times as long each time, up to what its
// options say.
const (
	firstBan          = time.Minute
	banGrowth         = 5
	defaultLongestBan = 30 * time.Minute
)

// ban is what a lie has brought upon an endpoint.
type ban struct {
	mu     sync.Mutex
	until  time.Time
	times  int // without as much time of good conduct as the longest ban takes
	reason string
}

// extend puts aside who lied, for the time that it returns; nothing more comes of a lie that was under way.
func (b *ban) extend(now time.Time, reason string, longest time.Duration) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now.Before(b.until) {
		return 0
	}
	if now.Sub(b.until) >= longest {
		b.times = 0
	}
	term := firstBan
	for range b.times {
		term = min(term*banGrowth, longest)
	}
	term = min(term, longest)
	b.times++
	b.until, b.reason = now.Add(term), reason
	return term
}

// left returns for how long the ban goes on, and why; nothing when there is none.
func (b *ban) left(now time.Time) (time.Duration, string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !now.Before(b.until) {
		return 0, ""
	}
	return b.until.Sub(now), b.reason
}

// putAside has nobody ask the endpoint for a while: it was proven to lie. It failed at its identity, or said of others what
// a second endpoint contradicted.
func (e *Endpoint) putAside(ctx context.Context, lie error) {
	reason := e.refusal(Request{}, lie).Error()
	term := e.ban.extend(time.Now(), reason, e.longestBan)
	if term > 0 && e.log != nil {
		e.log.WarnContext(ctx, "endpoint is put aside for a lie", "endpoint", e.name, "for", term.String(), "error", reason)
	}
}

// isLie reports whether err is an answer that could be read and contradicts its question.
func isLie(err error) bool {
	var said *Error
	return errors.As(err, &said) && said.foreign
}

// Cordon takes the endpoint out of use until Uncordon. What it is answering goes on.
func (e *Endpoint) Cordon() { e.cordoned.Store(true) }

// Uncordon takes the endpoint into use again.
func (e *Endpoint) Uncordon() { e.cordoned.Store(false) }

// ForceBreaker has an operator decide what the breaker does. Unforced, it begins anew.
func (e *Endpoint) ForceBreaker(how Force) { e.breaker.force(how) }

// Obey has e do what operators want of other, which it takes the place of, and count what it spent of its plan.
func (e *Endpoint) Obey(other *Endpoint) {
	e.cordoned.Store(other.cordoned.Load())
	e.breaker.forced.Store(other.breaker.forced.Load())
	e.budget.countOn(other.budget)
}

var (
	errCordoned = errors.New("an operator has taken it out of use")
	errForced   = errors.New("an operator holds it open")
)

// withheld says why the endpoint is not to be asked at all; nil when it may be.
func (e *Endpoint) withheld() error {
	if e.cordoned.Load() {
		return &Error{Class: Withheld, Endpoint: e.name, Err: errCordoned}
	}
	if left, reason := e.ban.left(time.Now()); left > 0 {
		return &Error{Class: Withheld, Endpoint: e.name, RetryAfter: left, Err: fmt.Errorf("put aside for a lie: %s", reason)}
	}
	return nil
}

// heldOff is the refusal of a breaker that is not closed.
func (e *Endpoint) heldOff() error {
	refusal := &Error{Class: BreakerOpen, Endpoint: e.name, RetryAfter: e.breaker.untilProbe()}
	if Force(e.breaker.forced.Load()) == ForceOpen {
		refusal.Err, refusal.RetryAfter = errForced, 0
	}
	return refusal
}
