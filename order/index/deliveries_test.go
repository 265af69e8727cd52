package index

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/store"
)

// TestDeliveriesAreThoseOfTheOrders compares what is looked up of many orders with the orders.
func TestDeliveriesAreThoseOfTheOrders(t *testing.T) {
	for name, db := range map[string]*store.DB{"SQLite": openStore(t), "PostgreSQL": openPostgres(t)} {
		t.Run(name, func(t *testing.T) {
			orders := fillInvented(t, db, newInvented(29), 230)
			x := New(db, nil, quietly(Options{}))
			var ids []order.ID
			want := make(map[order.ID]Delivery)
			for _, o := range orders {
				ids = append(ids, o.ID)
				if o.Fulfilled != nil {
					want[o.ID] = Delivery{At: o.Fulfilled.At.Time, Give: o.GiveFinal, State: o.State}
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
func checkDeliveryTimes(t *testing.T, s orderStore, orders []*order.Order) {
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
	rows, err := s.deliveryTimes(t.Context(), 0, 1<<40)
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

// TestDeliveryTimesFromBeforeTheyWereKept migrates counted orders back and forth.
func TestDeliveryTimesFromBeforeTheyWereKept(t *testing.T) {
	for name, at := range map[string]store.Location{
		"SQLite": {Path: t.TempDir() + "/orders.db"}, "PostgreSQL": {Postgres: newDatabase(t)},
	} {
		t.Run(name, func(t *testing.T) {
			open := func() *store.DB {
				if at.Postgres != "" {
					return openReplica(t, at.Postgres)
				}
				return openStoreAt(t, at.Path)
			}
			db := open()
			orders := fillInvented(t, db, newInvented(31), 120)
			s := orderStore{DB: db}
			if left, err := s.countSome(t.Context(), store.Lease{}, madeUpPrices); err != nil || left {
				t.Fatalf("left %t, %v", left, err)
			}
			checkDeliveryTimes(t, s, orders)
			err := db.Close()
			if err != nil {
				t.Fatal(err)
			}
			for _, version := range []int64{16, 0} {
				if _, _, err := at.Migrate(t.Context(), version); err != nil {
					t.Fatal(err)
				}
			}
			s = orderStore{DB: open()}
			if _, err := s.deliveryTimes(t.Context(), 0, 1<<40); err != ErrUncounted { //nolint:errorlint // it is returned as it is
				t.Errorf("delivery times while older orders lack theirs: %v, want ErrUncounted", err)
			}
			steps := 0
			for done := 0.; done < 1; steps++ {
				before := done
				next, isLeft, err := s.fillingAt(t.Context())
				if err == nil {
					done, err = s.fillDeliveryTimes(t.Context(), store.Lease{}, next, 50)
				}
				if err != nil || !isLeft || done < before {
					t.Fatalf("step %d: %v after %v, left: %t, %v", steps, done, before, isLeft, err)
				}
			}
			if steps < 2 {
				t.Errorf("%d steps: the test shows nothing of going on", steps)
			}
			checkDeliveryTimes(t, s, orders)
		})
	}
}

// TestDeliveryTimesReadNothingButTheirIndex looks at how SQLite goes about it.
func TestDeliveryTimesReadNothingButTheirIndex(t *testing.T) {
	plan := column(t, openStore(t), 3, "EXPLAIN QUERY PLAN "+deliveredIn, 1, 2)
	if len(plan) == 0 || !strings.Contains(plan[0], "USING COVERING INDEX order_values_delivered (day>? AND day<?)") {
		t.Errorf("the plan is %q", plan)
	}
}
