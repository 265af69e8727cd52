package order

import "crossgate/chain"

// DeliveryTimes are how long orders between two chains took from their creation to their delivery, seconds by the
// clocks of the chains.
type DeliveryTimes struct {
	Give, Take chain.ID
	Orders     uint64 // that were delivered
	P50, P95   uint64 // the shortest time in which that many percent of them were
}

// Took is how many orders took so many seconds.
type Took struct{ Seconds, Orders uint64 }

// TimesOf returns the delivery times of a pair of chains, given ascending and each once.
func TimesOf(give, take chain.ID, all []Took) DeliveryTimes {
	t := DeliveryTimes{Give: give, Take: take}
	for _, each := range all {
		t.Orders += each.Orders
	}
	t.P50, t.P95 = quantile(all, t.Orders, 50), quantile(all, t.Orders, 95)
	return t
}

// quantile is the nearest rank: the first time by which at least so many percent of the orders were delivered.
func quantile(all []Took, orders, percent uint64) uint64 {
	rank, passed := (orders*percent+99)/100, uint64(0)
	for _, each := range all {
		if passed += each.Orders; passed >= rank {
			return each.Seconds
		}
	}
	return 0
}
