package upstream

import (
	"math"
	"sync"
	"time"
)

// planMonth is a day longer than the longest month. So no month spends more than the plan has, whenever it begins, even
// if a whole day's share was left over.
const (
	day       = 24 * time.Hour
	planMonth = 32 * day
)

// aheadParts of a day's share make one claim: a plan that is spent to the full is written about as often a day.
const aheadParts = 100

// billingPlan lets a month's units be spent evenly, at most a day's share at once.
type billingPlan struct {
	unit  float64 // nanoseconds in which one is refilled
	spent *spending
}

// spending is how far a plan is spent, as a time so that it means the same when the plan changes. Endpoints that
// replace each other share it.
type spending struct {
	mu       sync.Mutex
	refilled time.Time     // when all that was spent is available again, as far as is known here
	ahead    time.Duration // claimed and not spent; below zero: spent and not claimed
	isKnown  bool          // what others spent
}

// share is what may be spent at once: that of a day, one unit at least.
func (p *billingPlan) share() time.Duration { return max(day, time.Duration(math.Ceil(p.unit))) }

func (p *billingPlan) worth(units int) time.Duration { return time.Duration(p.unit * float64(units)) }

// spend takes units and returns how long to wait for them. More than can be spent at once waits for a full day's share.
func (p *billingPlan) spend(now time.Time, units int) (wait time.Duration) {
	s := p.spent
	s.mu.Lock()
	defer s.mu.Unlock()
	owed := max(s.refilled.Sub(now), 0)
	worth := p.worth(units)
	s.refilled = now.Add(owed + worth)
	s.ahead -= worth
	return min(owed+worth-p.share(), owed)
}

func (p *billingPlan) giveBack(units int) {
	s := p.spent
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refilled = s.refilled.Add(-p.worth(units))
	s.ahead += p.worth(units)
}

func (p *billingPlan) left(now time.Time) float64 {
	s := p.spent
	s.mu.Lock()
	defer s.mu.Unlock()
	return float64(p.share()-max(s.refilled.Sub(now), 0)) / p.unit
}

// PlanClaim is the part of an endpoint's monthly plan to write into a store that outlives the process: unwritten
// spending and a hundredth of a day's share ahead, as the time in which it is refilled. So writes are rare, and a
// killed process has written more than it spent. The first claim may be zero: by it the endpoint learns the spending of
// others.
func (e *Endpoint) PlanClaim() (claim time.Duration, due bool) {
	p := e.budget.plan
	if p == nil {
		return 0, false
	}
	p.spent.mu.Lock()
	defer p.spent.mu.Unlock()
	if ahead := p.spent.ahead; ahead < 0 {
		return p.share()/aheadParts - ahead, true
	}
	return 0, !p.spent.isKnown
}

// PlanClaimed confirms that a claim was written, and passes the time at which all that is written is refilled. To
// write a claim is to add it to that time, or to now when that is later.
func (e *Endpoint) PlanClaimed(claim time.Duration, refilled time.Time) {
	if e.budget.plan == nil {
		return
	}
	s := e.budget.plan.spent
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isKnown = true
	s.ahead += claim
	if written := refilled.Add(-s.ahead); written.After(s.refilled) {
		s.refilled = written
	}
}
