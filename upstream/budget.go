package upstream

import (
	"cmp"
	"context"
	"math"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// An endpoint that asks for a pause gets at most longestPause. If it does not say how long, it gets defaultPause,
// doubled each time that it has answered nothing since the last pause, up to longestGuess.
const (
	defaultPause = time.Second
	longestGuess = time.Minute
	longestPause = 5 * time.Minute
)

// Budget limits how often an endpoint may be called, or called for one kind of request: by our own rate, its monthly
// plan and the pauses that it asked for. The zero value is unlimited until it is paused. Safe for concurrent use.
type Budget struct {
	units     int           // see EndpointOptions
	shared    bool          // by clients that each get answers of their own: nothing pauses it
	limiter   *rate.Limiter // nil if unlimited
	plan      *billingPlan  // nil without one
	asked     *rate.Limiter // callers' share, once the endpoint is followed; nil if unlimited
	searching *rate.Limiter // searches' share of the rate or the plan; nil if unlimited
	followed  atomic.Bool

	mu     sync.Mutex
	paused time.Time     // end of the current pause
	guess  time.Duration // next pause if the endpoint states no length; zero: defaultPause
}

func newBudget(o EndpointOptions) *Budget {
	b := &Budget{units: o.Units, shared: o.Forwards}
	perSecond := math.Inf(1)
	if o.RequestsPerSecond > 0 {
		perSecond = o.RequestsPerSecond
		b.limiter, b.asked = shareOf(1, perSecond, o.Burst), shareOf(1-followedShare, perSecond, o.Burst)
	}
	if o.Monthly > 0 {
		b.plan = &billingPlan{unit: float64(planMonth) / float64(o.Monthly), spent: &spending{}}
		perSecond = min(perSecond, float64(time.Second)/b.plan.unit)
	}
	if !math.IsInf(perSecond, 1) {
		b.searching = shareOf(searchingShare, perSecond, int(4*perSecond))
	}
	return b
}

// shareOf returns a limiter for a share of a rate, with a burst of at least one unit.
func shareOf(share, perSecond float64, burst int) *rate.Limiter {
	return rate.NewLimiter(rate.Limit(share*perSecond), max(int(share*float64(burst)), 1))
}

func (b *Budget) unitsOf(r Request) int { return cmp.Or(r.Cost, b.units, 1) }

// Take waits until cost units may be spent or ctx ends. If ctx belongs to a search, or its deadline is too early, Take
// spends nothing, does not wait, and returns when to retry.
func (b *Budget) Take(ctx context.Context, cost int) (retryAfter time.Duration, ok bool, err error) {
	cost = max(cost, 1)
	work := WorkOf(ctx)
	if work == Following {
		b.followed.Store(true)
	}
	if work == Background {
		for wait := b.untilHalfFree(cost); wait > 0; wait = b.untilHalfFree(cost) {
			if retryAfter, ok, err = await(ctx, wait); !ok {
				return retryAfter, false, err
			}
		}
	}
	if b.limiter == nil && b.plan == nil {
		return await(ctx, b.pauseLeft(time.Now()))
	}
	var rates []reserve // the shares that work takes from before it takes from the whole rate
	if work == Searching && b.searching != nil {
		rates = append(rates, reserveOf(b.searching))
	}
	if (work == Searching || work == Answering) && b.asked != nil && b.followed.Load() {
		rates = append(rates, reserveOf(b.asked))
	}
	return takeEach(ctx, append(rates, b.reserve), cost)
}

// reserve takes units, and returns how long to wait before they may be used.
type reserve func(now time.Time, units int) (wait time.Duration, giveBack func(at time.Time))

func reserveOf(l *rate.Limiter) reserve {
	return func(now time.Time, units int) (wait time.Duration, giveBack func(at time.Time)) {
		reserved := l.ReserveN(now, min(units, l.Burst()))
		return reserved.DelayFrom(now), reserved.CancelAt
	}
}

// takeEach takes units of one rate after another, waiting as Take does. If a rate refuses, units that were taken
// without a wait are given back.
func takeEach(ctx context.Context, rates []reserve, units int) (retryAfter time.Duration, ok bool, err error) {
	now := time.Now() // the same for all: a limiter takes back no units that could have been used before
	for _, reserve := range rates {
		wait, giveBack := reserve(now, units)
		defer func() {
			if !ok {
				giveBack(now)
			}
		}()
		retryAfter, ok, err = await(ctx, wait)
		if wait > 0 && retryAfter == 0 {
			now = time.Now()
		}
		if !ok {
			return retryAfter, false, err
		}
	}
	return 0, true, nil
}

// await lets d pass, as long as ctx lives. When the deadline of ctx is too early for that, or ctx is that of a search,
// it does not wait, and returns when to retry.
func await(ctx context.Context, d time.Duration) (retryAfter time.Duration, ok bool, err error) {
	if d <= 0 {
		return 0, true, nil
	}
	if deadline, limited := ctx.Deadline(); limited && time.Now().Add(d).After(deadline) || WorkOf(ctx) == Searching {
		return d, false, nil
	}
	err = sleep(ctx, d)
	return 0, err == nil, err
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// reserve takes units from the rate and the plan, and returns how long to wait before they may be used.
func (b *Budget) reserve(now time.Time, units int) (wait time.Duration, giveBack func(at time.Time)) {
	wait = b.pauseLeft(now)
	var reserved *rate.Reservation
	if b.limiter != nil {
		reserved = b.limiter.ReserveN(now, min(units, b.limiter.Burst()))
		wait = max(wait, reserved.DelayFrom(now))
	}
	if b.plan != nil {
		wait = max(wait, b.plan.spend(now, units))
	}
	return wait, func(at time.Time) {
		if reserved != nil {
			reserved.CancelAt(at)
		}
		if b.plan != nil {
			b.plan.giveBack(units)
		}
	}
}

// Pause stops the endpoint's use for d, or if d is zero, for as long as it seems to need. Requests in flight when a
// pause begins do not lengthen the next one. A forwarding endpoint is never paused.
func (b *Budget) Pause(d time.Duration) {
	if b.shared {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if d <= 0 {
		d = max(b.guess, defaultPause)
		if now.Before(b.paused) {
			return
		}
		b.guess = min(2*d, longestGuess)
	}
	if until := now.Add(min(d, longestPause)); until.After(b.paused) {
		b.paused = until
	}
}

// Answered records that the endpoint did its work: the next pause without a stated length is short again.
func (b *Budget) Answered() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.guess = 0
}

func (b *Budget) pauseLeft(now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.paused.Sub(now)
}

func (b *Budget) isPaused() bool { return b.pauseLeft(time.Now()) > 0 }

// IsSpent reports whether the next call would have to wait for our own rate or for the end of a pause.
func (b *Budget) IsSpent() bool {
	left, limited := b.left()
	return limited && left < 1 || b.isPaused()
}

// left returns how many units callers may spend immediately; limited is false without a rate or plan.
func (b *Budget) left() (units float64, limited bool) {
	if b.limiter != nil {
		units, limited = b.limiter.Tokens(), true
		if b.followed.Load() {
			units = min(units, b.asked.Tokens())
		}
	}
	if b.plan == nil {
		return units, limited
	}
	left := b.plan.left(time.Now())
	if limited {
		left = min(left, units)
	}
	return left, true
}

// waiting returns how many units wait for the rate. Units beyond a monthly plan do not wait.
func (b *Budget) waiting() (units float64, limited bool) {
	if b.limiter == nil {
		return 0, false
	}
	return max(-b.limiter.Tokens(), 0) + max(-b.asked.Tokens(), 0), true
}

// RetryAfter parses a Retry-After header, in seconds or as a date (RFC 9110 section 10.2.3); zero if there is none.
func RetryAfter(header http.Header) time.Duration {
	text := header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	date, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(header.Get("Date")) // by the clock of the server, which may differ from ours
	if err != nil {
		now = time.Now()
	}
	return max(date.Sub(now), 0)
}

// Extra load that a pool may cause: a fifth of its requests plus ten attempts a second (like Finagle's RetryBudget).
// Unused shares are saved up: when an endpoint goes down, all of its requests in flight are repeated elsewhere. The
// last half is reserved for retries, since hedges do not follow a failure.
const (
	extraShare     = 0.2
	extraPerSecond = 10.0
	extraWindow    = 10 * time.Second
	extraLeast     = 20.0 // savings allowed however few the recent requests
	hedgeCost      = 2.0
)

// retryBudget limits the attempts that a pool makes beyond one for each request: retries and hedges.
type retryBudget struct {
	mu       sync.Mutex
	requests float64 // of the latest extraWindow, fading with age
	left     float64
	asOf     time.Time // when requests and left were updated; zero: never
}

func (b *retryBudget) earn() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.age(time.Now())
	b.requests++
	b.left = min(b.left+extraShare, b.most())
}

func (b *retryBudget) most() float64 { return max(extraShare*b.requests, extraLeast) }

// retry reports whether one more attempt may follow a failed one, and counts it.
func (b *retryBudget) retry() bool { return b.take(1, 0) }

// take spends cost if at least the given share of the most savings is left afterwards: half, for a hedge.
func (b *retryBudget) take(cost, share float64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.age(time.Now())
	if b.left-cost < share*b.most() {
		return false
	}
	b.left -= cost
	return true
}

func (b *retryBudget) age(now time.Time) {
	if b.asOf.IsZero() {
		b.asOf, b.left = now, extraLeast
	}
	passed := now.Sub(b.asOf).Seconds()
	b.requests *= math.Exp(-passed / extraWindow.Seconds())
	b.left = min(b.left+passed*extraPerSecond, b.most())
	b.asOf = now
}
