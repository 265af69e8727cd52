package query

import (
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/ledger"
	"crossgate/order/list"
	"crossgate/store"
)

// BenchmarkList reads pages as clients request them, from a store of a million orders with all their events. Orders are
// spread evenly over 400 days; most are claimed, and a tenth belong to one affiliate. It reports the median.
func BenchmarkList(b *testing.B) {
	orders := listSize()
	for name, open := range map[string]func(testing.TB) *store.DB{"SQLite": openStore, "PostgreSQL": openPostgres} {
		b.Run(name, func(b *testing.B) {
			db := open(b)
			v := &invented{Rand: rand.New(rand.NewPCG(1, 1)), chains: newInvented(1).chains}
			for n := range 20_000 {
				address := sha256.Sum256([]byte(strconv.Itoa(n)))
				v.people = append(v.people, chain.NewAddress(address[:20]))
			}
			fillList(b, db, v, orders)
			settle(b, db)
			reportSize(b, db, orders)
			for _, each := range clientLists(v) {
				b.Run(each.name, func(b *testing.B) { benchmarkList(b, ledger.Ledger{DB: db}, each) })
			}
		})
	}
}

// listSize returns the number of orders: few with -short, with which make test runs each benchmark once.
func listSize() int {
	if testing.Short() {
		return inventedAtOnce
	}
	return 1_000_000
}

const inventedAtOnce = 2_000 // orders per transaction

// settle does what PostgreSQL's autovacuum does within a minute of so many writes.
func settle(b *testing.B, db *store.DB) {
	b.Helper()
	if !db.IsReplicated() {
		return
	}
	for _, table := range []string{"listed", "listed_counts", "events", "swaps"} {
		must.Do(b, db.ForEachRow(b.Context(), nil, `VACUUM ANALYZE `+table))
	}
}

// reportSize logs the bytes per order in the database, and the sizes of PostgreSQL's tables and indexes.
func reportSize(b *testing.B, db *store.DB, orders int) {
	b.Helper()
	sizes := `SELECT 'all', page_count * page_size FROM pragma_page_count(), pragma_page_size()`
	if db.IsReplicated() {
		sizes = `SELECT 'all', pg_database_size(current_database()) UNION ALL SELECT relname, pg_relation_size(oid) FROM pg_class
			WHERE relkind IN ('r', 'i', 't') AND pg_relation_size(oid) > 10000000 ORDER BY 2 DESC`
	}
	must.Do(b, db.ForEachRow(b.Context(), func(rows *sql.Rows) error {
		var name string
		var bytes int
		err := rows.Scan(&name, &bytes)
		b.Logf("%s: %d bytes an order", name, bytes/orders)
		return err
	}, sizes))
}

// fillList stores orders and their events, and a fifth as many swaps. A single taker delivers a third of the delivered
// orders.
func fillList(b *testing.B, db *store.DB, v *invented, orders int) {
	b.Helper()
	v.taker = v.people[0]
	for first := 0; first < orders; first += inventedAtOnce {
		var all []order.Event
		worth := map[order.ID]*int64{}
		for n := range inventedAtOnce {
			at := inventedBegin + uint64(first+n)*400*secondsOfDay/uint64(orders)
			events := v.events()
			var id order.ID // IDs are hashes
			binary.BigEndian.PutUint64(id[:], v.Uint64())
			binary.BigEndian.PutUint64(id[24:], v.number)
			for i := range events {
				events[i].At.Time, events[i].Order = at, id
			}
			worth[id] = new(int64(v.Uint64N(1_000_000)))
			if all = append(all, events...); n%5 == 0 {
				id[30] ^= 0x80
				all = append(all, order.Swap{ID: id, At: order.At{Chain: 8453, Block: uint64(first + n), Time: at, Tx: chain.NewTxHash(id[:])}, Fact: order.Swapped{
					Sender: v.somebody(), Recipient: v.somebody(), ReferralCode: uint32(v.IntN(4)) * 10_000,
				}}.Event())
			}
		}
		apply(b, db, all, nil)
		must.Do(b, db.Update(b.Context(), func(tx *store.Tx) error { return list.Value(b.Context(), tx, worth) }))
	}
}

// clientList is a list that one kind of client requests.
type clientList struct {
	name       string
	kind       list.Kind
	filter     list.Filter
	skip, take uint64
}

// clientLists are lists that public clients request, and the most expensive ones that a filter allows.
func clientLists(v *invented) []clientList {
	regular, seldom := v.people[300], v.people[15_000]
	referral, half := uint32(30_000), uint64(inventedBegin+200*secondsOfDay)
	delivered := []order.State{order.StateCreated, order.StateFulfilled, order.StateSentUnlock, order.StateClaimedUnlock}
	stuck := []order.State{order.StateCreated, order.StateOrderCancelled, order.StateSentOrderCancel}
	open := []order.State{order.StateFulfilled, order.StateSentUnlock}
	claimed := list.Filter{States: []order.State{order.StateClaimedUnlock}}
	return []clientList{
		{"newest", list.Orders, list.Filter{}, 0, 100},
		{"maker", list.Orders, list.Filter{Maker: regular}, 0, 100},
		{"creator", list.Orders, list.Filter{Creator: seldom}, 0, 20},
		{"delivered", list.Orders, list.Filter{States: delivered}, 0, 100},
		{"stuck", list.Orders, list.Filter{States: stuck, Search: &list.Search{Address: regular}}, 0, 100},
		{"pair", list.Orders, list.Filter{GiveChains: []chain.ID{100000014}, TakeChains: []chain.ID{7565164}}, 0, 100},
		{"walk", list.Orders, list.Filter{Since: half - 30*secondsOfDay, Until: half + 4321}, 50_000, 100},
		{"affiliate", list.Orders, list.Filter{
			GiveChains: []chain.ID{1}, States: []order.State{order.StateClaimedUnlock}, ReferralCode: &referral,
			Search: &list.Search{Address: regular},
		}, 0, 100},
		{"taker", list.Orders, list.Filter{UnlockAuthorities: []chain.Address{regular, seldom}, States: open}, 0, 100},
		{"referral", list.Orders, list.Filter{ReferralCode: &referral}, 0, 100},

		{"swaps", list.Swaps, list.Filter{}, 0, 100},
		{"both", list.Both, list.Filter{}, 0, 100},
		{"both-deep", list.Both, list.Filter{Since: inventedBegin + 4321}, 777_777, 100},
		{"last", list.Orders, list.Filter{}, 899_900, 100},
		{"claimed-deep", list.Orders, claimed, 300_000, 100},
		{"market-deep", list.Both, list.Filter{TradeType: "Market", Since: inventedBegin + 4321, Until: half}, 100_000, 100},
		{"referral-deep", list.Orders, list.Filter{ReferralCode: &referral}, 200_000, 100},
		{"referral-states", list.Orders, list.Filter{ReferralCode: &referral, States: delivered}, 150_000, 100},
		{"big-taker", list.Orders, list.Filter{UnlockAuthorities: []chain.Address{v.people[0]}}, 100_000, 100},
		{"big-taker-open", list.Orders, list.Filter{UnlockAuthorities: []chain.Address{v.people[0]}, States: open}, 0, 100},
		{"big-taker-claimed", list.Orders, list.Filter{Fulfiller: v.people[0], States: claimed.States}, 100_000, 100},
		{"big-maker", list.Orders, list.Filter{Maker: v.people[0], States: claimed.States}, 0, 100},
		{"token", list.Orders, list.Filter{GiveToken: v.people[0], Given: list.Amounts{From: new(chain.NewAmount(uint64(listSize()) / 2))}}, 0, 100},
		{"token-largest", list.Orders, list.Filter{GiveToken: v.people[0], Sort: list.Largest}, 0, 100},
		{"token-states", list.Orders, list.Filter{GiveToken: v.people[0], States: stuck, Since: inventedBegin + 4321}, 0, 100},
		{"token-deep", list.Orders, list.Filter{TakeToken: v.people[1], States: delivered}, 500_000, 100},
		{"amounts-states", list.Orders, list.Filter{TakeToken: v.people[1], Taken: list.Amounts{To: new(chain.NewAmount(uint64(listSize()) / 2))}, States: delivered}, 0, 100},
		{"tokens", list.Orders, list.Filter{GiveToken: v.people[0], TakeToken: v.people[1]}, 0, 100},
		{"oldest", list.Orders, list.Filter{Sort: list.Oldest}, 300_000, 100},
		{"largest", list.Orders, list.Filter{Sort: list.Largest}, 0, 100},
		{"worth-much", list.Orders, list.Filter{USD: list.Amounts{From: new(chain.NewAmount(999_000))}}, 0, 100},
		{"worth-something", list.Orders, list.Filter{USD: list.Amounts{From: new(chain.NewAmount(100_000))}}, 0, 100},
		{"worth-states", list.Orders, list.Filter{USD: list.Amounts{From: new(chain.NewAmount(100_000))}, States: delivered}, 0, 100},
		{"worth-time", list.Orders, list.Filter{USD: list.Amounts{From: new(chain.NewAmount(100_000))}, Since: inventedBegin + 4321}, 0, 100},
		{"first-hour", list.Both, list.Filter{Until: inventedBegin + 3600}, 0, 100},
	}
}

// benchmarkList reports the median and the longest time, which is usually the first.
func benchmarkList(b *testing.B, s ledger.Ledger, each clientList) {
	b.Helper()
	var times []time.Duration
	var total uint64
	for b.Loop() {
		begun := time.Now()
		listed := must.Get(listFrom(b.Context(), s, each.kind, each.filter, each.skip, each.take))(b)
		total, times = listed.Total, append(times, time.Since(begun))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "ms-median")
	b.ReportMetric(float64(times[len(times)-1].Microseconds())/1000, "ms-longest")
	b.ReportMetric(float64(total), "listed")
}
