package stories_test

import (
	"fmt"
	"math"
	"testing"
	"time"
)

// figures are statistics, as far as the story reads them.
type figures struct {
	Created   int      `json:"createdOrdersCount"`
	Fulfilled int      `json:"fulfilledOrdersCount"`
	Given     *float64 `json:"totalAmountGivenUsd"`
	Unpriced  int      `json:"unpricedOrdersCount"`
	Creators  int      `json:"uniqueOrderCreators"`
}

// TestStatisticsCountTheWorldsOrders compares statistics with the orders of the world, once they are counted.
func TestStatisticsCountTheWorldsOrders(t *testing.T) {
	t.Parallel()
	front := readingFront(t)
	orders, err := front.world.Orders(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var sum figures
	given := 0.0
	for back := 2; sum.Created < len(orders); back++ { // other days each time: answers are kept for a minute
		if back > 360 {
			t.Fatalf("%d orders are counted, want %d", sum.Created, len(orders))
		}
		var daily struct {
			DailyData, DailyDataCumulative []figures
		}
		from := time.Now().AddDate(0, 0, -back).UTC().Format(time.DateOnly)
		get(t, fmt.Sprintf("%s/api/Satistics/getDaily?dateFrom=%s", front.url, from), &daily)
		sum, given = figures{}, 0
		for _, row := range daily.DailyData {
			sum.Created += row.Created
			sum.Fulfilled += row.Fulfilled
			sum.Unpriced += row.Unpriced
			if row.Given != nil {
				given += *row.Given
			}
		}
		if len(daily.DailyDataCumulative) < len(daily.DailyData) {
			t.Errorf("%d rows of running totals beside %d of days", len(daily.DailyDataCumulative), len(daily.DailyData))
		}
		<-time.After(30 * time.Millisecond)
	}
	var all figures
	get(t, front.url+"/api/Satistics/getAllTime", &all)
	if all.Created != sum.Created || all.Fulfilled != sum.Fulfilled || all.Unpriced != sum.Unpriced || all.Creators == 0 {
		t.Errorf("days have %+v, all time %+v", sum, all)
	}
	if all.Given == nil || math.Abs(given-*all.Given) > 1e-6 || given <= 0 || all.Unpriced == all.Created {
		t.Errorf("days have %g USD, all time %+v", given, all)
	}
}
