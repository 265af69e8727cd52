package follow

import (
	"context"
	"sync/atomic"
	"time"

	"crossgate/chain"
)

// askedFor is how long a chain counts as asked about after a request, and after the start.
const askedFor = 5 * time.Minute

// Pace is how often a chain is asked for news. A head costs the same whether or not a request waits for it, so
// the pace follows the requests: docs/decisions/0026-following.md.
type Pace struct {
	// Asked is while its orders are asked for; default 1.9 s. Where those of more than togetherAsked chains are, all
	// wait longer, so that together they are asked for news no more often than these.
	Asked   time.Duration
	Listed  time.Duration // while locked assets are asked for, which any chain may hold; default 15 s
	Idle    time.Duration // otherwise; default 1 min
	Retired time.Duration // otherwise, of a chain that takes no new orders; default 4 min
	Quiet   time.Duration // at least, while heads are announced and the newest one was read; default 15 s
	// Looks is how many times a day a chain may be asked at all by the plans of its endpoints; nil or 0: any number.
	Looks func(chain.ID) float64
	// Together is the number of chains whose orders are asked about; nil: few.
	Together func() int
}

// togetherAsked is how many chains are asked for news as often as Asked says.
const togetherAsked = 7

// WithDefaults has them in the place of zeros.
func (p Pace) WithDefaults() Pace {
	for _, each := range []struct {
		of       *time.Duration
		standard time.Duration
	}{{&p.Asked, 1900 * time.Millisecond}, {&p.Listed, 15 * time.Second}, {&p.Idle, time.Minute}, {&p.Retired, 4 * time.Minute}, {&p.Quiet, 15 * time.Second}} {
		if *each.of == 0 {
			*each.of = each.standard
		}
	}
	p.Listed = max(p.Listed, p.Asked)
	p.Idle = max(p.Idle, p.Listed)
	p.Retired = max(p.Retired, p.Idle)
	return p
}

// Demand is the kind of requests about a chain at a time.
type Demand uint8

// The kinds of demand, from none.
const (
	Unasked Demand = iota
	AskedWhatIsLocked
	AskedAboutOrders
)

// Of returns how long to wait between two looks at a chain.
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

// demand is when a chain was asked about last.
type demand struct {
	Orders, locked atomic.Int64  // UNIX nanoseconds
	woken          chan struct{} // holds a value when it is more than was asked before
}

// newDemand begins as if orders were asked for: a gateway that starts has to become level.
func newDemand() *demand {
	d := &demand{woken: make(chan struct{}, 1)}
	d.Orders.Store(time.Now().UnixNano())
	return d
}

// now returns the demand for the chain.
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

// ask takes note of a question.
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

// AskedAbout takes note of a request about orders of chains.
func (c *Chains) AskedAbout(ids ...chain.ID) {
	for _, id := range ids {
		if f := c.Of(id); f != nil {
			f.Demand.ask(AskedAboutOrders)
		}
	}
}

// askedTogether counts the chains whose orders are asked about.
func (c *Chains) askedTogether() (chains int) {
	for _, f := range c.Followers {
		if f.Demand.now() == AskedAboutOrders {
			chains++
		}
	}
	return chains
}

// AskedWhatIsLocked takes note of a request for locked assets.
func (c *Chains) AskedWhatIsLocked() {
	for _, f := range c.Followers {
		if !f.Retired {
			f.Demand.ask(AskedWhatIsLocked)
		}
	}
}

// waitForNews returns when it is time for the next look: by the pace, counted from when the last one began, so
// that proofs do not hold it up; at once when more is asked than before; where heads are announced, when a new one is,
// and not before the pace. It returns false when ctx has ended.
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
