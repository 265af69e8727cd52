package order

import (
	"cmp"
	"slices"

	"crossgate/chain"
)

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
