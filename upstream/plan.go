package upstream

import (
	"math"
	"sync"
	"time"
)

// planMonth is a day longer than the longest month, so that no month exceeds the plan, whenever it begins and even if a
// whole day's share was left over.
const (
	day       = 24 * time.Hour
	planMonth = 32 * day
)

// aheadParts is how many claims make up a day's share, and so how often a day a fully used plan is written, roughly.
const aheadParts = 100

// billingPlan spreads a month's units evenly, with at most a day's share spent at once.
type billingPlan struct {
	unit  float64 // nanoseconds in which one unit is refilled
	spent *spending
}

// spending is how much of a plan is spent, as a time so that it means the same when the plan changes. Endpoints that
// replace each other share it.
type spending struct {
	mu       sync.Mutex
	refilled time.Time     // when everything known to be spent is available again
	ahead    time.Duration // claimed but not spent; below zero: spent but not claimed
	isKnown  bool          // the spending of others
}

// share is what may be spent at once: that of a day, one unit at least.
func (p *billingPlan) share() time.Duration { return max(day, time.Duration(math.Ceil(p.unit))) }

func (p *billingPlan) worth(units int) time.Duration { return time.Duration(p.unit * float64(units)) }

// spend takes units and returns how long to wait for them. More than a day's share waits until that share is complete.
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

// PlanClaim returns the part of an endpoint's monthly plan to write to a store that outlives the process: unwritten
// spending plus a hundredth of a day's share in advance, as refill time. This makes writes rare, and a killed process
// has written more than it spent. The first claim may be zero: through it the endpoint learns the spending of others.
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

// PlanClaimed confirms that a claim was written; refilled is when all written spending will be refilled. Writing a
// claim means adding it to that time, or to now if that is later.
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
