package follow

import (
	"cmp"
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"crossgate/chain"
)

// askedFor is how long a chain counts as asked about after a request, and after a start.
const askedFor = 5 * time.Minute

// Pace is how often a chain's head is polled. A poll costs the same whether or not a request waits for it,
// so it follows demand: docs/decisions/0026-following.md.
type Pace struct {
	// Asked applies while the chain's orders are asked for; default 1.9 s. With more than togetherAsked such chains,
	// all wait longer, so that together they are polled no more often than togetherAsked chains.
	Asked   time.Duration
	Listed  time.Duration // while locked assets, which any chain may hold, are asked for; default 15 s
	Idle    time.Duration // otherwise; default 1 min
	Retired time.Duration // otherwise, for a chain that takes no new orders; default 4 min
	Quiet   time.Duration // minimum while heads are announced and the newest one was read; default 15 s
	// Looks returns how many polls a day the plans of a chain's endpoints permit; nil or 0: any number.
	Looks func(chain.ID) float64
	// Together returns the number of chains whose orders are asked about; nil: few.
	Together func() int
}

// togetherAsked is how many chains can be polled at interval Asked.
const togetherAsked = 7

// WithDefaults returns the pace with zero durations replaced by defaults, and shorter ones raised to their order.
func (p Pace) WithDefaults() Pace {
	p.Asked = cmp.Or(p.Asked, 1900*time.Millisecond)
	p.Listed = max(cmp.Or(p.Listed, 15*time.Second), p.Asked)
	p.Idle = max(cmp.Or(p.Idle, time.Minute), p.Listed)
	p.Retired = max(cmp.Or(p.Retired, 4*time.Minute), p.Idle)
	p.Quiet = cmp.Or(p.Quiet, 15*time.Second)
	return p
}

// Demand is the kind of requests that recently concerned a chain.
type Demand uint8

// Kinds of demand, ascending.
const (
	Unasked Demand = iota
	AskedWhatIsLocked
	AskedAboutOrders
)

// Of returns the polling interval of a chain.
func (p Pace) Of(c chain.Chain, asked Demand) time.Duration {
	every := p.Idle
	switch {
	case asked == AskedAboutOrders:
		every = p.Asked
		if p.Together != nil {
			every = every * time.Duration(max(p.Together(), togetherAsked)) / togetherAsked
		}
	case c.Retired:
		every = p.Retired
	case asked == AskedWhatIsLocked:
		every = p.Listed
	}
	if p.Looks == nil {
		return every
	}
	if looks := p.Looks(c.ID); looks > 0 {
		const day = 24 * time.Hour
		every = max(every, time.Duration(float64(day)/looks))
	}
	return every
}

// demand records when a chain was last asked about.
type demand struct {
	Orders, locked atomic.Int64  // UNIX nanoseconds
	woken          chan struct{} // holds a value if the demand has grown
}

// newDemand starts as if orders were asked for: a starting gateway has to catch up.
func newDemand() *demand {
	d := &demand{woken: make(chan struct{}, 1)}
	d.Orders.Store(time.Now().UnixNano())
	return d
}

func (d *demand) now() Demand {
	isRecent := func(at *atomic.Int64) bool { return time.Since(time.Unix(0, at.Load())) < askedFor }
	switch {
	case isRecent(&d.Orders):
		return AskedAboutOrders
	case isRecent(&d.locked):
		return AskedWhatIsLocked
	}
	return Unasked
}

func (d *demand) ask(what Demand) {
	before, at := d.now(), &d.Orders
	if what == AskedWhatIsLocked {
		at = &d.locked
	}
	at.Store(time.Now().UnixNano())
	if before < what {
		select {
		case d.woken <- struct{}{}:
		default:
		}
	}
}

// AskedAbout records a request about orders of chains.
func (c *Chains) AskedAbout(ids ...chain.ID) {
	for _, id := range ids {
		if f := c.Of(id); f != nil {
			f.Demand.ask(AskedAboutOrders)
		}
	}
}

// demandChannel carries the demand on replicas that do not follow a chain to the one that does: the chain and the kind.
const demandChannel = "crossgate_demand"

// passDemandOn notifies the other replicas if there were requests here since it last did.
func (f *Follower) passDemandOn(ctx context.Context) {
	at, kind := max(f.Demand.Orders.Load(), f.Demand.locked.Load()), f.Demand.now()
	if at == f.passedOn || kind == Unasked {
		return
	}
	if f.Ledger.Notify(ctx, demandChannel, fmt.Sprint(f.ID, " ", uint8(kind))) == nil {
		f.passedOn = at
	}
}

// hearDemand records another replica's demand on a chain that this one follows.
func (c *Chains) hearDemand(payload string) {
	var id chain.ID
	var kind Demand
	if _, err := fmt.Sscan(payload, &id, &kind); err == nil && c.Of(id) != nil && c.Of(id).Leading.Load() == 1 {
		c.Of(id).Demand.ask(kind)
	}
}

// askedTogether returns how many chains' orders are asked about.
func (c *Chains) askedTogether() (chains int) {
	for _, f := range c.Followers {
		if f.Demand.now() == AskedAboutOrders {
			chains++
		}
	}
	return chains
}

// AskedWhatIsLocked records a request for locked assets.
func (c *Chains) AskedWhatIsLocked() {
	for _, f := range c.Followers {
		if !f.Retired {
			f.Demand.ask(AskedWhatIsLocked)
		}
	}
}

// waitForNews waits until it is time for the next poll: at the pace, counted from the start of the last one so that
// proofs do not delay it; immediately if demand grows; if heads are announced, at a new one but not before the pace. It
// returns false if ctx has ended.
func (f *Follower) waitForNews(ctx context.Context, begun time.Time) bool {
	for {
		pace, since := f.every(), time.Since(begun)
		quiet := min(f.announced.every-since, time.Until(f.announced.quietUntil(f.State().Head)))
		select {
		case <-ctx.Done():
			return false
		case <-time.After(max(pace-since, quiet)):
			return true
		case <-f.Demand.woken:
			return true
		case <-f.announced.gained:
		}
	}
}
