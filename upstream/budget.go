package upstream

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Limits of what an endpoint's Retry-After is believed: without one a moment, and never so long that one
// answer silences the endpoint for good.
const (
	defaultPause = time.Second
	longestPause = 5 * time.Minute
)

// budget is how often an endpoint may be asked: our own rate, and pauses that the endpoint asked for.
type budget struct {
	limiter *rate.Limiter // nil when unlimited
	monthly *rate.Limiter // the plan's share of a day at most, refilled evenly; nil without a plan

	mu     sync.Mutex
	paused time.Time // until then
}

// month is the longest one: what is left over in others is the price of not knowing when a plan's month begins.
const month = 31 * 24 * time.Hour

func newBudget(perSecond float64, burst int, monthly int) *budget {
	b := &budget{}
	if perSecond > 0 {
		b.limiter = rate.NewLimiter(rate.Limit(perSecond), max(burst, 1))
	}
	if monthly > 0 {
		b.monthly = rate.NewLimiter(rate.Limit(float64(monthly)/month.Seconds()), max(monthly/31, 1))
	}
	return b
}

// take waits until cost calls may be made, as long as ctx lives; when that is too short it takes nothing,
// does not wait and returns after what time to ask again.
func (b *budget) take(ctx context.Context, cost int) (retryAfter time.Duration, ok bool, err error) {
	if isBackground(ctx) {
		if retryAfter, ok, err = b.yield(ctx, cost); !ok {
			return retryAfter, false, err
		}
	}
	now := time.Now()
	wait := b.pauseLeft(now)
	var reserved []*rate.Reservation
	for _, limiter := range []*rate.Limiter{b.limiter, b.monthly} {
		if limiter != nil {
			reservation := limiter.ReserveN(now, min(max(cost, 1), limiter.Burst()))
			reserved = append(reserved, reservation)
			wait = max(wait, reservation.DelayFrom(now))
		}
	}
	if wait <= 0 {
		return 0, true, nil
	}
	if deadline, limited := ctx.Deadline(); limited && now.Add(wait).After(deadline) {
		giveBack(reserved)
		return wait, false, nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return 0, true, nil
	case <-ctx.Done():
		giveBack(reserved)
		return 0, false, ctx.Err()
	}
}

func giveBack(reserved []*rate.Reservation) {
	for _, reservation := range reserved {
		reservation.Cancel()
	}
}

// pause stops the endpoint's use for d.
func (b *budget) pause(d time.Duration) {
	if d <= 0 {
		d = defaultPause
	}
	until := time.Now().Add(min(d, longestPause))
	b.mu.Lock()
	defer b.mu.Unlock()
	if until.After(b.paused) {
		b.paused = until
	}
}

func (b *budget) pauseLeft(now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.paused.Sub(now)
}

func (b *budget) isPaused() bool { return b.pauseLeft(time.Now()) > 0 }

// isSpent reports whether the next call would have to wait for our own rate.
func (b *budget) isSpent() bool {
	return b.limiter != nil && b.limiter.Tokens() < 1 || b.monthly != nil && b.monthly.Tokens() < 1
}

// left returns how many calls may be made at once; not limited without a rate.
func (b *budget) left() (calls float64, limited bool) {
	switch {
	case b.limiter == nil && b.monthly == nil:
		return 0, false
	case b.limiter == nil:
		return b.monthly.Tokens(), true
	case b.monthly == nil:
		return b.limiter.Tokens(), true
	}
	return min(b.limiter.Tokens(), b.monthly.Tokens()), true
}

// retryAfter reads a Retry-After header, seconds or a date (RFC 9110 section 10.2.3); zero without one.
func retryAfter(header http.Header) time.Duration {
	text := header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if date, err := http.ParseTime(text); err == nil {
		return max(time.Until(date), 0)
	}
	return 0
}
