package stories_test

import (
	"net/http"
	"testing"
	"time"

	"crossgate/internal/must"
)

// TestStatisticsCountTheWorldsOrders requests statistics once all orders of the world are counted: what they were
// worth, and how long they took. Each figure is held against a recount by order/query.
func TestStatisticsCountTheWorldsOrders(t *testing.T) {
	t.Parallel()
	front := readingFront(t)
	counted := awaitCounted(t, front)
	var all struct {
		Created int      `json:"createdOrdersCount"`
		Given   *float64 `json:"totalAmountGivenUsd"`
	}
	get(t, front.url+"/api/Satistics/getAllTime", &all)
	if all.Created != counted || all.Given == nil || *all.Given <= 0 {
		t.Errorf("days have %d orders, all time %+v", counted, all)
	}
	var times struct {
		DeliveryTimes []struct {
			FillsByMargin []struct {
				Fulfilled int `json:"fulfilledOrdersCount"`
			}
		}
	}
	get(t, front.url+"/api/Statistics/getDeliveryTimes", &times)
	delivered := 0
	for _, each := range times.DeliveryTimes {
		for _, f := range each.FillsByMargin {
			delivered += f.Fulfilled
		}
	}
	if delivered == 0 {
		t.Error("no order was delivered")
	}
}

// awaitCounted returns the number of orders in the statistics once all of the world are counted.
func awaitCounted(t *testing.T, front front) (counted int) {
	t.Helper()
	orders, day := must.Get(front.world.Orders(t.Context()))(t), time.Now().UTC()
	await(t, "all orders counted", func() bool {
		day = day.AddDate(0, 0, -1) // another one each time: answers are kept for a minute
		response, body := ask(t, http.MethodGet, front.url+"/api/Satistics/getDaily?dateFrom="+day.AddDate(0, 0, -1).Format(time.DateOnly), "")
		if response.StatusCode != http.StatusOK { // none is counted
			return false
		}
		var daily struct {
			DailyData []struct {
				Created int `json:"createdOrdersCount"`
			}
		}
		decode(t, "statistics", body, &daily)
		counted = 0
		for _, row := range daily.DailyData {
			counted += row.Created
		}
		return counted >= len(orders)
	})
	return counted
}
