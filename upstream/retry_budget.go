package upstream

import (
	"math"
	"sync"
	"time"
)

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
