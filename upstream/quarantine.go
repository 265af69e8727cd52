package upstream

import (
	"sync"
	"time"
)

// How long an endpoint that was proven wrong stays in quarantine, or one that is closed to us is left alone: at first
// firstQuarantine, then quarantineGrowth times as long each time, up to what its options say, or longestClosed.
const (
	firstQuarantine          = time.Minute
	quarantineGrowth         = 5
	defaultLongestQuarantine = 30 * time.Minute
	longestClosed            = 6 * time.Hour
)

// quarantine keeps an endpoint out of use for a while, longer each time.
type quarantine struct {
	mu    sync.Mutex
	until time.Time
	times int // without as much time of good conduct as the longest one takes
	cause error
}

// extend begins a quarantine and returns its length, zero for an answer that was under way when another one began.
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

// end lets the endpoint be used at once.
func (q *quarantine) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.until, q.times = time.Time{}, 0
}

// left returns how long the quarantine still lasts, and why; nothing when there is none.
func (q *quarantine) left(now time.Time) (time.Duration, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !now.Before(q.until) {
		return 0, nil
	}
	return q.until.Sub(now), q.cause
}
