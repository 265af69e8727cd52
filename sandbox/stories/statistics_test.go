package stories_test

import (
	"math"
	"net/http"
	"net/url"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/internal/must"
)

// figures are statistics, with the members that the story needs.
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
		DeliveryTimes []struct {
			FulfilledOrdersCount, P50Seconds, P95Seconds int
			FillsByMargin                                []fillsJSON
		}
	}
	get(t, front.url+"/api/Statistics/getDeliveryTimes", &times)
	delivered, ofMargin := 0, fillsJSON{}
	for _, each := range times.DeliveryTimes {
		delivered += each.FulfilledOrdersCount
		if each.P95Seconds < each.P50Seconds || (each.P95Seconds == 0) != (each.FulfilledOrdersCount == 0) {
			t.Errorf("delivery times %+v", each)
		}
		for _, f := range each.FillsByMargin {
			ofMargin.Created, ofMargin.Fulfilled = ofMargin.Created+f.Created, ofMargin.Fulfilled+f.Fulfilled
		}
	}
	if ofMargin.Fulfilled == 0 || ofMargin.Fulfilled > delivered || ofMargin.Created < ofMargin.Fulfilled || ofMargin.Created > sum.Created {
		t.Errorf("by margin there are %+v, of %d orders and %d delivered", ofMargin, sum.Created, delivered)
	}
	front.explainsFills(t)
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

// fillsJSON is how many orders of a margin were filled.
type fillsJSON struct {
	From, Below *int
	Created     int  `json:"createdOrdersCount"`
	Fulfilled   int  `json:"fulfilledOrdersCount"`
	P50         *int `json:"p50Seconds"`
}

// explainsFills requests explanations for orders of each pair of EVM chains: some find earlier orders of their margins.
func (f front) explainsFills(t *testing.T) {
	t.Helper()
	world, found := f.facts(t), fillsJSON{}
	for _, give := range f.world.Chains() {
		for _, take := range f.world.Chains() {
			if give == take || give.Facts.Family != chain.EVM || take.Facts.Family != chain.EVM {
				continue
			}
			query := url.Values{
				"srcChainId": {give.Facts.ID.String()}, "srcChainTokenIn": {world.token(t, uint64(give.Facts.ID), "USDC")}, "srcChainTokenInAmount": {"900000000"},
				"dstChainId": {take.Facts.ID.String()}, "dstChainTokenOut": {world.token(t, uint64(take.Facts.ID), "USDC")},
			}
			var explained struct{ EarlierFills *fillsJSON }
			get(t, f.url+"/v1.0/dln/order/create-tx/explain?"+query.Encode(), &explained)
			if explained.EarlierFills != nil {
				found.Created, found.Fulfilled = found.Created+explained.EarlierFills.Created, found.Fulfilled+explained.EarlierFills.Fulfilled
			}
		}
	}
	if found.Fulfilled == 0 || found.Created < found.Fulfilled {
		t.Errorf("explanations have %+v", found)
	}
}

// sumOfDays returns the sum of all days' statistics once they include all orders of the world.
func sumOfDays(t *testing.T, front front) (sum figures, given float64) {
	t.Helper()
	orders := must.Get(front.world.Orders(t.Context()))(t)
	for back := 2; sum.Created < len(orders); back++ { // other days each time: answers are cached for a minute
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
