package order

import (
	"cmp"
	"slices"

	"crossgate/chain"
)

// DeliveryTimes says how long orders between two chains took from creation to delivery, in seconds by the clocks of the
// chains.
type DeliveryTimes struct {
	Give, Take chain.ID
	Orders     uint64  // delivered ones
	P50, P95   uint64  // the shortest time within which 50 or 95 percent of them were delivered
	Fills      []Fills // smallest margin first
}

// Fills says how many orders of a margin were filled, and how fast.
type Fills struct {
	Margin             Margin
	Created, Fulfilled uint64 // orders
	P50                uint64 // the shortest time in seconds within which half of the fulfilled orders were fulfilled
}

// Margin is a class of orders by what they leave a taker before costs: the share by which the take amount's value falls
// short of the give amount's, both after patches, at the prices of the creation.
type Margin uint8

// marginEdges separate the classes, in basis points. Orders of the first class take more than they give.
var marginEdges = [...]int64{0, 10, 30, 100, 300, 1000}

// MarginOf returns the class of an order from the values of its amounts; given must be positive.
func MarginOf(given, taken float64) Margin {
	const wholeBps = 10_000
	bps := (given - taken) / given * wholeBps
	above := 0
	for ; above < len(marginEdges) && bps >= float64(marginEdges[above]); above++ {
	}
	return Margin(above)
}

// Bounds returns the class's lower bound (inclusive) and upper bound (exclusive) in basis points; nil: unbounded.
func (m Margin) Bounds() (from, below *int64) {
	if m > 0 {
		from = &marginEdges[m-1]
	}
	if int(m) < len(marginEdges) {
		below = &marginEdges[m]
	}
	return from, below
}

// Took counts the orders that took a number of seconds to deliver.
type Took struct {
	Seconds *uint64 // nil: not delivered
	Margin  *Margin // nil: unknown, or the orders are reserved for one taker
	Orders  uint64
}

// TimesOf returns the delivery times of a pair of chains. all must be in ascending order of Seconds.
func TimesOf(give, take chain.ID, all []Took) DeliveryTimes {
	t := DeliveryTimes{Give: give, Take: take}
	_, t.Orders = count(all)
	t.P50, t.P95 = quantile(all, t.Orders, 50), quantile(all, t.Orders, 95)
	var classes [len(marginEdges) + 1][]Took
	for _, each := range all {
		if m := each.Margin; m != nil && int(*m) < len(classes) {
			classes[*m] = append(classes[*m], each)
		}
	}
	for margin, class := range classes {
		f := Fills{Margin: Margin(margin)}
		if f.Created, f.Fulfilled = count(class); f.Created > 0 {
			f.P50 = quantile(class, f.Fulfilled, 50)
			t.Fills = append(t.Fills, f)
		}
	}
	return t
}

func count(all []Took) (orders, delivered uint64) {
	for _, each := range all {
		if orders += each.Orders; each.Seconds != nil {
			delivered += each.Orders
		}
	}
	return orders, delivered
}

// quantile returns the nearest rank: the shortest time within which at least percent of the orders were delivered.
func quantile(all []Took, delivered, percent uint64) uint64 {
	rank, passed := (delivered*percent+99)/100, uint64(0)
	for _, each := range all {
		if each.Seconds == nil {
			continue
		}
		if passed += each.Orders; passed >= rank {
			return *each.Seconds
		}
	}
	return 0
}

// Statistics summarise the orders created in a period between two chains, or between any.
type Statistics struct {
	Created, Fulfilled, Active uint64 // orders; active ones are neither fulfilled nor cancelled
	Unpriced                   uint64 // orders with an unknown value
	Creators, NewCreators      uint64 // addresses that created orders; those among them that had created none before
	Given, Taken, Fee          USD    // Fee is the sum of both protocol fees
	Affiliate                  USD
}

// USD is a sum of values, each at the prices of its own time.
type USD struct {
	Micros int64  // millionths of a USD
	Orders uint64 // number of orders whose values are known
}

// DailyStatistics are the statistics of one day and pair of chains.
type DailyStatistics struct {
	Day        uint64 // days since 1970-01-01 UTC
	Give, Take chain.ID
	Statistics
}

// plus adds the statistics of a later period. Creators of the sum are the new creators of both.
func (s Statistics) plus(other Statistics) Statistics {
	s.Created += other.Created
	s.Fulfilled += other.Fulfilled
	s.Active += other.Active
	s.Unpriced += other.Unpriced
	s.NewCreators += other.NewCreators
	s.Creators = s.NewCreators
	s.Given, s.Taken, s.Fee, s.Affiliate = s.Given.plus(other.Given), s.Taken.plus(other.Taken), s.Fee.plus(other.Fee), s.Affiliate.plus(other.Affiliate)
	return s
}

func (u USD) plus(other USD) USD { return USD{u.Micros + other.Micros, u.Orders + other.Orders} }

// Accumulate returns running totals for every day in [from, to] and every pair of chains that had orders by then.
// before holds earlier statistics, days those of the period in ascending order.
func Accumulate(before, days []DailyStatistics, from, to uint64) (running []DailyStatistics) {
	totals := make(map[[2]chain.ID]Statistics)
	add := func(d DailyStatistics) {
		pair := [2]chain.ID{d.Give, d.Take}
		totals[pair] = totals[pair].plus(d.Statistics)
	}
	for _, d := range before {
		add(d)
	}
	for day := from; day <= to; day++ {
		for ; len(days) > 0 && days[0].Day <= day; days = days[1:] {
			add(days[0])
		}
		first := len(running)
		for pair, total := range totals {
			running = append(running, DailyStatistics{day, pair[0], pair[1], total})
		}
		slices.SortFunc(running[first:], func(a, b DailyStatistics) int {
			return cmp.Or(cmp.Compare(a.Give, b.Give), cmp.Compare(a.Take, b.Take))
		})
	}
	return running
}
