package query

import (
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/follow"
	"crossgate/order/stats"
	"crossgate/store"
)

// TestDeliveriesAreThoseOfTheOrders compares what is looked up of many orders with the orders.
func TestDeliveriesAreThoseOfTheOrders(t *testing.T) {
	for name, db := range map[string]*store.DB{"SQLite": openStore(t), "PostgreSQL": openPostgres(t)} {
		t.Run(name, func(t *testing.T) {
			orders := fillInvented(t, db, newInvented(29), 230)
			x := newIndex(db, nil, quietly(follow.Options{}))
			var ids []order.ID
			want := make(map[order.ID]order.Delivery)
			for _, o := range orders {
				ids = append(ids, o.ID)
				if o.Fulfilled != nil {
					want[o.ID] = order.Delivery{At: o.Fulfilled.At.Time, Give: o.GiveFinal, State: o.State}
				}
			}
			got, err := x.Deliveries(t.Context(), ids)
			if err != nil || !maps.Equal(want, got) || len(got) == 0 {
				t.Errorf("%d deliveries, %v: %v, want %v", len(got), err, got, want)
			}
		})
	}
}

// checkDeliveryTimes compares quantiles with those of the sorted times themselves.
func checkDeliveryTimes(t *testing.T, db *store.DB, orders []*order.Order) {
	t.Helper()
	times := make(map[[2]chain.ID][]uint64)
	for _, o := range orders {
		if o.Created != nil && o.Fulfilled != nil {
			key := [2]chain.ID{o.Terms.Give.Chain, o.Terms.Take.Chain}
			times[key] = append(times[key], uint64(max(int64(o.Fulfilled.At.Time)-int64(o.Created.At.Time), 0)))
		}
	}
	want := make(map[[2]chain.ID]order.DeliveryTimes)
	for key, all := range times {
		slices.Sort(all)
		rank := func(percent float64) uint64 { return all[int(math.Ceil(float64(len(all))*percent/100))-1] }
		want[key] = order.DeliveryTimes{Give: key[0], Take: key[1], Orders: uint64(len(all)), P50: rank(50), P95: rank(95)}
	}
	rows, err := stats.DeliveryTimes(t.Context(), db, 0, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[[2]chain.ID]order.DeliveryTimes)
	for _, each := range rows {
		got[[2]chain.ID{each.Give, each.Take}] = each
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("delivery times (-recounted +counted):\n%s", diff)
	}
}
