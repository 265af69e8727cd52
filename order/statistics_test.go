package order_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"crossgate/order"
)

func TestAccumulateHasEveryPairOnTheLastDay(t *testing.T) {
	at := func(day uint64, take uint64, s order.Statistics) order.DailyStatistics {
		d := order.DailyStatistics{Day: day, Give: 1, Take: 10, Statistics: s}
		if take != 10 {
			d.Take = 56
		}
		return d
	}
	one := order.Statistics{Created: 1, Fulfilled: 1, Creators: 1, NewCreators: 1, Given: order.USD{Micros: 5, Orders: 1}}
	again := order.Statistics{Created: 2, Active: 2, Creators: 1, Unpriced: 2}
	running := order.Accumulate(
		[]order.DailyStatistics{at(0, 10, one)},
		[]order.DailyStatistics{at(7, 10, again), at(8, 56, one), at(8, 10, one)}, 6, 9)
	three := order.Statistics{Created: 3, Fulfilled: 1, Active: 2, Unpriced: 2, Creators: 1, NewCreators: 1, Given: order.USD{Micros: 5, Orders: 1}}
	four := order.Statistics{Created: 4, Fulfilled: 2, Active: 2, Unpriced: 2, Creators: 2, NewCreators: 2, Given: order.USD{Micros: 10, Orders: 2}}
	want := []order.DailyStatistics{at(6, 10, one), at(7, 10, three), at(8, 10, four), at(8, 56, one), at(9, 10, four), at(9, 56, one)}
	if diff := cmp.Diff(want, running); diff != "" {
		t.Errorf("running totals (-want +got):\n%s", diff)
	}
}
