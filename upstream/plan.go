package upstream

import (
	"math"
	"sync"
	"time"
)

// planMonth is a day longer than the longest month. So a month takes no more than the plan has, whenever it begins, also
// when a whole day's share was left over from before.
const (
	day       = 24 * time.Hour
	planMonth = 32 * day
)

// aheadParts of a day's share make one claim: an account in a database hears of a plan that is spent about so often a day.
const aheadParts = 100

// plan lets a month's units be spent evenly, at most a day's share at once.
type plan struct {
	unit    float64 // nanoseconds in which one is refilled
	account *account
}

// account is how far a plan is spent, told in time so that it means the same when the plan changes. Endpoints that take
// each other's place have it in common.
type account struct {
	mu       sync.Mutex
	refilled time.Time     // when all that was spent is there again, as far as is known here
	ahead    time.Duration // claimed and not spent; below zero: spent and not claimed
	isKnown  bool          // what others spent
}

func newPlan(monthly int) *plan {
	if monthly <= 0 {
		return nil
	}
	return &plan{unit: float64(planMonth) / float64(monthly), account: &account{}}
}

// share is what may be spent at once: that of a day, one unit at least.
func (p *plan) share() time.Duration { return max(day, time.Duration(math.Ceil(p.unit))) }

func (p *plan) worth(units int) time.Duration { return time.Duration(p.unit * float64(units)) }

// spend takes units and returns after what time they are there. What is more than can be spent at once waits for all of it.
func (p *plan) spend(now time.Time, units int) (wait time.Duration) {
	a := p.account
	a.mu.Lock()
	defer a.mu.Unlock()
	owed := max(a.refilled.Sub(now), 0)
	worth := p.worth(units)
	a.refilled = now.Add(owed + worth)
	a.ahead -= worth
	return min(owed+worth-p.share(), owed)
}

// giveBack undoes a spend.
func (p *plan) giveBack(units int) {
	a := p.account
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refilled = a.refilled.Add(-p.worth(units))
	a.ahead += p.worth(units)
}

// left is how many units may be spent at once.
func (p *plan) left(now time.Time) float64 {
	a := p.account
	a.mu.Lock()
	defer a.mu.Unlock()
	return float64(p.share()-max(a.refilled.Sub(now), 0)) / p.unit
}

// PlanClaim is what is to be written of an endpoint's monthly plan into an account that outlives the process: what
// was spent and is not written, and a hundredth of a day's share ahead, as the time in which it is refilled. So writing is
// rare, and a process that is killed has written more than it spent, but for what it did since it was asked for a claim last.
// Nothing is due while the last claim lasts. The first claim of an endpoint that has spent nothing is zero: it
// learns by it what was spent before, and by others.
func (e *Endpoint) PlanClaim() (claim time.Duration, due bool) {
	p := e.budget.plan
	if p == nil {
		return 0, false
	}
	p.account.mu.Lock()
	defer p.account.mu.Unlock()
	if p.account.ahead < 0 {
		return p.share()/aheadParts - p.account.ahead, true
	}
	return 0, !p.account.isKnown
}

// PlanClaimed tells that a claim was written, and when all that is written is refilled. To write a claim is to add it to
// that moment, or to now when that is later.
func (e *Endpoint) PlanClaimed(claim time.Duration, refilled time.Time) {
	p := e.budget.plan
	if p == nil {
		return
	}
	a := p.account
	a.mu.Lock()
	defer a.mu.Unlock()
	a.isKnown = true
	a.ahead += claim
	if written := refilled.Add(-a.ahead); written.After(a.refilled) {
		a.refilled = written
	}
}

// countOn has b go on in the account of other, whose place it takes.
func (b *budget) countOn(other *budget) {
	if b.plan != nil && other.plan != nil {
		b.plan.account = other.plan.account
	}
}
