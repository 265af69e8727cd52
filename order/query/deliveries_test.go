package query

import (
	"maps"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/stats"
	"crossgate/store"
)

// checkDeliveryTimes compares quantiles and fills with those of the sorted times.
func checkDeliveryTimes(t *testing.T, db *store.DB, orders []*order.Order) {
	t.Helper()
	type pair [2]chain.ID
	times, fills := make(map[pair][]uint64), make(map[pair]map[order.Margin][]uint64)
	want := make(map[pair]order.DeliveryTimes)
	created := make(map[pair]map[order.Margin]uint64)
	for _, o := range orders {
		if o.Created == nil {
			continue
		}
		key := pair{o.Terms.Give.Chain, o.Terms.Take.Chain}
		want[key] = order.DeliveryTimes{}
		if created[key] == nil {
			created[key], fills[key] = make(map[order.Margin]uint64), make(map[order.Margin][]uint64)
		}
		margin, hasMargin := recountedMargin(o)
		if hasMargin {
			created[key][margin]++
		}
		if o.Fulfilled == nil {
			continue
		}
		took := uint64(max(int64(o.Fulfilled.At.Time)-int64(o.Created.At.Time), 0))
		times[key] = append(times[key], took)
		if hasMargin {
			fills[key][margin] = append(fills[key][margin], took)
		}
	}
	rank := func(all []uint64, percent float64) uint64 {
		slices.Sort(all)
		if len(all) == 0 {
			return 0
		}
		return all[int(math.Ceil(float64(len(all))*percent/100))-1]
	}
	for key := range want {
		each := order.DeliveryTimes{
			Give: key[0], Take: key[1], Orders: uint64(len(times[key])), P50: rank(times[key], 50), P95: rank(times[key], 95),
		}
		for _, margin := range slices.Sorted(maps.Keys(created[key])) {
			took := fills[key][margin]
			each.Fills = append(each.Fills, order.Fills{
				Margin: margin, Created: created[key][margin], Fulfilled: uint64(len(took)), P50: rank(took, 50),
			})
		}
		want[key] = each
	}
	rows := must.Get(stats.DeliveryTimes(t.Context(), db, 0, 1<<40))(t)
	got := make(map[pair]order.DeliveryTimes)
	for _, each := range rows {
		got[pair{each.Give, each.Take}] = each
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("delivery times (-recounted +counted):\n%s", diff)
	}
}

// recountedMargin returns the margin of an order, at the made-up prices in whole millionths of a USD.
func recountedMargin(o *order.Order) (margin order.Margin, isKnown bool) {
	value := func(of order.Offer, amount chain.Amount) float64 {
		usd := madeUpPrice(stats.Priced{Chain: of.Chain, Token: of.Token, At: o.Created.At.Time - o.Created.At.Time%3600})
		if usd == nil {
			return -1
		}
		worth, _ := new(big.Rat).Mul(usd, new(big.Rat).SetInt(new(big.Int).Mul(amount.Big(), big.NewInt(1_000_000)))).Float64()
		return math.Floor(worth)
	}
	given, taken := value(o.Terms.Give, o.GiveFinal), value(o.Terms.Take, o.TakeFinal)
	if given <= 0 || taken < 0 || !o.Terms.Authorities.AllowedTaker.IsAbsent() {
		return 0, false
	}
	left := math.Round((given-taken)/given*1e10) / 1e6 // basis points, without floating-point noise
	for _, edge := range []float64{0, 10, 30, 100, 300, 1000} {
		if left >= edge {
			margin++
		}
	}
	return margin, true
}
