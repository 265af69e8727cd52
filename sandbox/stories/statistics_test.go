package stories_test

import (
	"fmt"
	"math"
	"net/http"
	"slices"
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
	orders, err := front.world.Orders(t.Context())
	if err != nil {
		t.Fatal(err)
	}
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

// TestVenuesThatWinAreCounted compares a swap and asks who won, until that is written.
func TestVenuesThatWinAreCounted(t *testing.T) {
	t.Parallel()
	front := readingFront(t)
	var world worldJSON
	get(t, front.world.URL()+"/sandbox/world", &world)
	var usdc string
	for _, token := range world.Tokens {
		if token.ChainID == 1 && token.Symbol == "USDC" {
			usdc = token.Address
		}
	}
	var quoted struct {
		Aggregators []struct{ Name, Verdict string }
	}
	get(t, front.url+"/v1.0/chain/transaction/explain?chainId=1&tokenIn=0x0000000000000000000000000000000000000000&tokenInAmount=1000000000000000000"+
		"&tokenOut="+usdc+"&tokenOutRecipient="+world.Accounts[0].Address, &quoted)
	won := slices.IndexFunc(quoted.Aggregators, func(a struct{ Name, Verdict string }) bool { return a.Verdict == "won" })
	if won < 0 {
		t.Fatalf("nobody won: %+v", quoted)
	}
	for back := 2; ; back++ { // other days each time: answers are kept for a minute
		if back > 360 {
			t.Fatalf("%s won, and that is not counted", quoted.Aggregators[won].Name)
		}
		var counted struct {
			Venues []struct {
				Name                                       string
				ComparisonsCount, WonCount, ContestedCount int
				AverageImprovementPercent                  *float64
			}
		}
		get(t, fmt.Sprintf("%s/api/Statistics/getVenues?dateFrom=%s", front.url, time.Now().AddDate(0, 0, -back).UTC().Format(time.DateOnly)), &counted)
		if len(counted.Venues) > 0 {
			first := counted.Venues[0]
			if first.Name != quoted.Aggregators[won].Name || first.WonCount != 1 || first.ComparisonsCount != 1 || first.ContestedCount != 1 || first.AverageImprovementPercent == nil {
				t.Errorf("%+v, want %s as the winner of one comparison", counted.Venues, quoted.Aggregators[won].Name)
			}
			return
		}
		<-time.After(100 * time.Millisecond)
	}
}
