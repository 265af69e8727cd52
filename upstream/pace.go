package upstream

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	slowestPace  = 0.05             // calls a second that a learned pace is at least
	paceEnough   = 8                // calls in a row that are answered, after which it grows
	paceGrows    = 1.25             // times
	paceForgets  = 10 * time.Minute // without a refusal
	paceMeasured = time.Second      // in which calls are counted that made one too many
)

// Pace is how often an endpoint takes calls of one kind, where it takes fewer of these than of others: learned from its
// refusals, or declared. It grows while calls are answered, and is forgotten after a while; what was declared is not.
// The zero value bounds nothing. Safe for concurrent use.
type Pace struct {
	mu       sync.Mutex
	limiter  *rate.Limiter // nil: no bound is known
	asked    *rate.Limiter // the share of callers once such calls follow the chain; nil with limiter
	followed bool
	declared bool
	paused   time.Time   // until then
	until    time.Time   // the bound is forgotten
	accepted int         // since the bound changed
	calls    []time.Time // taken lately
	changed  uint64
}

// Declare sets how many calls a second are taken, for good.
func (p *Pace) Declare(perSecond float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.declared = true
	p.bound(perSecond, int(perSecond))
}

// bound sets how many calls a second are made, with the mutex held.
func (p *Pace) bound(perSecond float64, burst int) {
	p.limiter, p.asked = shareOf(1, perSecond, burst), shareOf(1-followedShare, perSecond, burst)
}

// Recall begins with a bound that was known at a time.
func (p *Pace) Recall(perSecond float64, at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.declared && perSecond > 0 {
		p.until = at.Add(paceForgets)
		p.bound(perSecond, 1)
	}
}

// Take waits until so many calls may be made, as long as ctx lives. When the deadline of ctx is too early for that, or
// ctx is that of a search, it takes nothing, does not wait, and returns when to retry.
func (p *Pace) Take(ctx context.Context, calls int) (retryAfter time.Duration, ok bool, err error) {
	return takeEach(ctx, append(p.shares(WorkOf(ctx)), p.reserve), calls)
}

// shares are those that work takes from before it takes from the whole.
func (p *Pace) shares(work Work) []reserve {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forget(time.Now())
	if work == Following || work == Background {
		p.followed = true
	} else if p.followed && p.limiter != nil {
		return []reserve{reserveOf(p.asked)}
	}
	return nil
}

func (p *Pace) reserve(now time.Time, calls int) (wait time.Duration, giveBack func(at time.Time)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forget(now)
	for range calls {
		p.calls = append(p.calls, now)
	}
	wait = p.paused.Sub(now)
	if p.limiter == nil {
		return wait, func(time.Time) {}
	}
	reserved := p.limiter.ReserveN(now, min(calls, p.limiter.Burst()))
	return max(wait, reserved.DelayFrom(now)), reserved.CancelAt
}

// forget drops what is out of date.
func (p *Pace) forget(now time.Time) {
	if p.limiter != nil && !p.declared && !now.Before(p.until) {
		p.limiter = nil
	}
	old := 0
	for old < len(p.calls) && now.Sub(p.calls[old]) > paceMeasured {
		old++
	}
	p.calls = p.calls[old:]
}

// Refused learns that a call was one too many: none are made for a while, and then half as many as before.
func (p *Pace) Refused(retryAfter time.Duration) {
	if retryAfter <= 0 {
		retryAfter = defaultPause
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	p.forget(now)
	if until := now.Add(min(retryAfter, longestPause)); until.After(p.paused) {
		p.paused = until
	}
	if p.declared {
		return
	}
	before := float64(max(len(p.calls), 1))
	if p.limiter != nil {
		before = min(before, float64(p.limiter.Limit()))
	}
	p.bound(max(before/2, slowestPace), 1)
	p.until, p.accepted = now.Add(paceForgets), 0
	p.changed++
}

// Accepted learns that a call was answered.
func (p *Pace) Accepted() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.limiter == nil || p.declared {
		return
	}
	if p.accepted++; p.accepted < paceEnough {
		return
	}
	p.accepted = 0
	p.limiter.SetLimit(paceGrows * p.limiter.Limit())
	p.asked.SetLimit((1 - followedShare) * p.limiter.Limit())
	p.changed++
}

// PerSecond is the bound, in calls a second; zero: none is known.
func (p *Pace) PerSecond() float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.forget(time.Now()); p.limiter == nil {
		return 0
	}
	return float64(p.limiter.Limit())
}

// IsSpent reports whether the next call would have to wait.
func (p *Pace) IsSpent() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	p.forget(now)
	return p.paused.After(now) || p.limiter != nil && p.limiter.TokensAt(now) < 1
}

// Changes counts what was learned.
func (p *Pace) Changes() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.changed
}
