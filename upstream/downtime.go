package upstream

import (
	"context"
	"errors"
	"sync"
	"time"
)

// downtime is the time for which an endpoint expects to be unavailable, by the Retry-After of an answer that says that
// it failed (RFC 9110, section 10.2.3). Meanwhile others are asked first, and nobody asks it in the background. A
// caller for whom no other endpoint answers asks it all the same: it may be one of many servers that said so, or what a
// caller had asked may have been the reason. The first answer to what was sent since then ends it.
type downtime struct {
	mu    sync.Mutex
	since time.Time // the latest word of it
	until time.Time
}

// expect begins a downtime, or lengthens it: by longestPause at most, and by nothing without a term.
func (d *downtime) expect(now time.Time, term time.Duration) {
	if term <= 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.since = now
	if until := now.Add(min(term, longestPause)); until.After(d.until) {
		d.until = until
	}
}

// refute ends it by an answer to what was sent at a time.
func (d *downtime) refute(sent time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if sent.After(d.since) {
		d.until = time.Time{}
	}
}

// left returns how long it still lasts; zero when there is none.
func (d *downtime) left(now time.Time) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return max(d.until.Sub(now), 0)
}

var errUnavailable = errors.New("announced downtime")

// pass has calls in the background wait for the end, as take has them wait for the budget.
func (d *downtime) pass(ctx context.Context) (retryAfter time.Duration, ok bool, err error) {
	if WorkOf(ctx) != Background {
		return 0, true, nil
	}
	return await(ctx, d.left(time.Now()))
}
