package index

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/store"
)

// BenchmarkList asks a store of a million orders, with all their events, for pages as clients ask for them. Orders come
// evenly over 400 days; most are claimed, and a tenth belong to one affiliate. It reports the median.
func BenchmarkList(b *testing.B) {
	orders := listSize()
	for name, open := range map[string]func(testing.TB) *store.DB{"SQLite": openStore, "PostgreSQL": openPostgres} {
		b.Run(name, func(b *testing.B) {
			db := open(b)
			v := &invented{Rand: rand.New(rand.NewPCG(1, 1)), chains: newInvented(1).chains}
			for n := range 20_000 {
				v.people = append(v.people, chain.NewAddress([]byte("person no. 1"+strconv.Itoa(10_000_000+n))))
			}
			fillList(b, db, v, orders)
			settle(b, db)
			for _, each := range clientFilters(v) {
				b.Run(each.name, func(b *testing.B) { benchmarkList(b, orderStore{DB: db}, each) })
			}
		})
	}
}

// listSize is how many orders a benchmark of lists has: with -short, by which make test runs each once, few.
func listSize() int {
	if testing.Short() {
		return inventedAtOnce
	}
	return 1_000_000
}

const inventedAtOnce = 2_000 // and stored in one transaction

// settle has PostgreSQL do what its autovacuum does within a minute of so many writes.
func settle(b *testing.B, db *store.DB) {
	b.Helper()
	if !db.IsReplicated() {
		return
	}
	for _, table := range []string{"order_list", "order_counts", "events"} {
		if err := db.ForEachRow(b.Context(), nil, `VACUUM ANALYZE `+table); err != nil {
			b.Fatal(err)
		}
	}
}

// fillList stores orders and their events.
func fillList(b *testing.B, db *store.DB, v *invented, orders int) {
	b.Helper()
	for first := 0; first < orders; first += inventedAtOnce {
		err := db.Update(b.Context(), func(tx *store.Tx) error {
			folded, ids, rows := map[order.ID]*order.Order{}, []order.ID{}, [][]any{}
			for n := range inventedAtOnce {
				events := v.events()
				for i := range events {
					events[i].At.Time = inventedBegin + uint64(first+n)*400*secondsOfDay/uint64(orders)
					row, err := eventRow(events[i])
					if err != nil {
						return err
					}
					rows = append(rows, row)
				}
				o, _ := order.Fold(events)
				folded[o.ID], ids = o, append(ids, o.ID)
			}
			if err := tx.ExecEach(b.Context(), insertEvent, rows); err != nil {
				return err
			}
			return list(b.Context(), tx, folded, ids, func(order.ID) bool { return false })
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// clientFilter is what one kind of client asks for.
type clientFilter struct {
	name       string
	filter     Filter
	skip, take uint64
}

// clientFilters are the ten that public clients send.
func clientFilters(v *invented) []clientFilter {
	regular, seldom := v.people[300], v.people[15_000]
	referral, half := uint32(30_000), uint64(inventedBegin+200*secondsOfDay)
	delivered := []order.State{order.StateCreated, order.StateFulfilled, order.StateSentUnlock, order.StateClaimedUnlock}
	stuck := []order.State{order.StateCreated, order.StateOrderCancelled, order.StateSentOrderCancel}
	return []clientFilter{
		{"newest", Filter{}, 0, 100},
		{"maker", Filter{Maker: regular}, 0, 100},
		{"creator", Filter{Creator: seldom}, 0, 20},
		{"delivered", Filter{States: delivered}, 0, 100},
		{"stuck", Filter{States: stuck, Search: &Search{Address: regular}}, 0, 100},
		{"pair", Filter{GiveChains: []chain.ID{100000014}, TakeChains: []chain.ID{7565164}}, 0, 100},
		{"walk", Filter{Since: half - 30*secondsOfDay, Until: half + 4321}, 50_000, 100},
		{"affiliate", Filter{
			GiveChains: []chain.ID{1}, States: []order.State{order.StateClaimedUnlock}, ReferralCode: &referral,
			Search: &Search{Address: regular},
		}, 0, 100},
		{"taker", Filter{UnlockAuthorities: []chain.Address{regular, seldom}, States: []order.State{order.StateFulfilled, order.StateSentUnlock}}, 0, 100},
		{"referral", Filter{ReferralCode: &referral}, 0, 100},
	}
}

func benchmarkList(b *testing.B, s orderStore, each clientFilter) {
	b.Helper()
	var times []time.Duration
	var total uint64
	for b.Loop() {
		begun := time.Now()
		listed, err := s.list(b.Context(), each.filter, each.skip, each.take)
		if err != nil {
			b.Fatal(err)
		}
		total, times = listed.Total, append(times, time.Since(begun))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "ms-median")
	b.ReportMetric(float64(total), "orders")
}
