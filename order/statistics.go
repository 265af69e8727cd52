package order

import (
	"cmp"
	"slices"

	"crossgate/chain"
)

// Statistics are about the orders between two chains, or any, that were created in some time.
type Statistics struct {
	Created, Fulfilled, Active uint64 // orders; active ones are not fulfilled yet
	Unpriced                   uint64 // orders with an unknown value
	Creators, NewCreators      uint64 // who created orders; of them, those who had created none before
	Given, Taken, Fee          USD    // Fee is both fees of the protocol
	Affiliate                  USD
}

// USD is a sum of values at their own times.
type USD struct {
	Micros int64  // millionths
	Orders uint64 // whose values are known
}

// DailyStatistics are those of a day and a pair of chains.
type DailyStatistics struct {
	Day        uint64 // UNIX
	Give, Take chain.ID
	Statistics
}

// plus is the statistics of two times together, the later one being other. Creators are those who were new.
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

// Accumulate returns, for every day from one to another and every pair of chains that has had orders by then, all of
// them: those before the first day, and those of the days, which are in their sequence.
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
