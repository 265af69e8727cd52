package stories_test

import (
	"math"
	"net/http"
	"testing"
	"time"

	"crossgate/internal/must"
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
	sum, given := sumOfDays(t, front)
	var times struct {
		DeliveryTimes []struct{ FulfilledOrdersCount, P50Seconds, P95Seconds int }
	}
	get(t, front.url+"/api/Statistics/getDeliveryTimes", &times)
	delivered := 0
	for _, each := range times.DeliveryTimes {
		delivered += each.FulfilledOrdersCount
		if each.P95Seconds < each.P50Seconds || each.P95Seconds == 0 {
			t.Errorf("delivery times %+v", each)
		}
	}
	if delivered != sum.Fulfilled || delivered == 0 {
		t.Errorf("delivery times are of %d orders, %d were delivered", delivered, sum.Fulfilled)
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

// sumOfDays is the sum of all days' statistics, once all orders of the world are in them.
func sumOfDays(t *testing.T, front front) (sum figures, given float64) {
	t.Helper()
	orders := must.Get(front.world.Orders(t.Context()))(t)
	for back := 2; sum.Created < len(orders); back++ { // other days each time: answers are kept for a minute
		if back > 360 {
			t.Fatalf("%d orders are counted, want %d", sum.Created, len(orders))
		}
		var daily struct {
			DailyData, DailyDataCumulative []figures
		}
		url := front.url + "/api/Satistics/getDaily?dateFrom=" + time.Now().AddDate(0, 0, -back).UTC().Format(time.DateOnly)
		sum, given = figures{}, 0
		if response, _ := ask(t, http.MethodGet, url, ""); response.StatusCode == http.StatusServiceUnavailable { // none is counted
			<-time.After(100 * time.Millisecond)
			continue
		}
		get(t, url, &daily)
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
		<-time.After(100 * time.Millisecond)
	}
	return sum, given
}
