package order

import "crossgate/chain"

// DeliveryTimes are how long orders between two chains took from their creation to their delivery, seconds by the
// clocks of the chains.
type DeliveryTimes struct {
	Give, Take chain.ID
	Orders     uint64  // that were delivered
	P50, P95   uint64  // the shortest time in which that many percent of them were
	Fills      []Fills // the smallest margin first
}

// Fills are how many orders of a margin were filled, and how fast.
type Fills struct {
	Margin             Margin
	Created, Fulfilled uint64 // orders
	P50                uint64 // the shortest time in which half of the fulfilled ones were, seconds
}

// Margin is a class of orders by what they leave a taker before his costs: the share of the give amount's value that
// the take amount lacks, both as last patched, at the prices of the creation.
type Margin uint8

// marginEdges part the classes, basis points. Orders of the first class take more than they give.
var marginEdges = [...]int64{0, 10, 30, 100, 300, 1000}

// MarginOf returns the class of an order by the values of its amounts; given is above zero.
func MarginOf(given, taken float64) Margin {
	const wholeBps = 10_000
	bps := (given - taken) / given * wholeBps
	above := 0
	for ; above < len(marginEdges) && bps >= float64(marginEdges[above]); above++ {
	}
	return Margin(above)
}

// Bounds are the basis points from which and below which margins are of the class; nil: any.
func (m Margin) Bounds() (from, below *int64) {
	if m > 0 {
		from = &marginEdges[m-1]
	}
	if int(m) < len(marginEdges) {
		below = &marginEdges[m]
	}
	return from, below
}

// Took is how many orders took so many seconds.
type Took struct {
	Seconds *uint64 // nil: they are not delivered
	Margin  *Margin // nil: not known, or no margin for everybody
	Orders  uint64
}

// TimesOf returns the delivery times of a pair of chains, given ascending.
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

// count returns how many orders there are, and how many of them are delivered.
func count(all []Took) (orders, delivered uint64) {
	for _, each := range all {
		if orders += each.Orders; each.Seconds != nil {
			delivered += each.Orders
		}
	}
	return orders, delivered
}

// quantile is the nearest rank: the first time by which at least so many percent of the delivered orders were.
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
