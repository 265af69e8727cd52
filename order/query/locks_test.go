package query

import (
	"database/sql"
	"encoding/binary"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/follow"
	"crossgate/order/ledger"
	"crossgate/store"
)

// TestLocksReadNothingButTheirIndex looks at how the databases go about it.
func TestLocksReadNothingButTheirIndex(t *testing.T) {
	plan := column(t, openStore(t), 3, "EXPLAIN QUERY PLAN "+ledger.LockedOrdersOf, taker.Bytes())
	const want = "SEARCH orders USING COVERING INDEX orders_locked (unlock_authority=?)"
	if len(plan) != 1 || plan[0] != want {
		t.Errorf("SQLite: %q, want %q alone", plan, want)
	}
	err := openPostgres(t).Update(t.Context(), func(tx *store.Tx) error {
		// A table of a few rows would be read whole.
		_, err := tx.ExecContext(t.Context(), `SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off`)
		plan = column(t, tx, 0, "EXPLAIN "+strings.ReplaceAll(ledger.LockedOrdersOf, "$1", "'x'"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(plan, "\n"); !strings.Contains(text, "Index Only Scan using orders_locked") || strings.Contains(text, "Sort") {
		t.Errorf("PostgreSQL:\n%s\nwant an index only scan of orders_locked without sorting", text)
	}
}

// column returns one column of the rows that a statement finds.
func column(t *testing.T, q store.Rows, at int, statement string, arguments ...any) (values []string) {
	t.Helper()
	err := q.ForEachRow(t.Context(), func(rows *sql.Rows) error {
		names, err := rows.Columns()
		if err != nil {
			return err
		}
		row, cells := make([]sql.NullString, len(names)), make([]any, len(names))
		for i := range row {
			cells[i] = &row[i]
		}
		err = rows.Scan(cells...)
		values = append(values, row[at].String)
		return err
	}, statement, arguments...)
	if err != nil {
		t.Fatal(err)
	}
	return values
}

// BenchmarkLocks reads the locks of a taker with 5000 of them from stores of one and of ten million orders, a
// tenth of which are locked for others. The orders are written straight into the table of folded orders: of
// their events nothing here is read. It reports the median.
func BenchmarkLocks(b *testing.B) {
	sizes := []int{1_000_000, 10_000_000}
	if testing.Short() {
		sizes = []int{foldedAtOnce}
	}
	for _, orders := range sizes {
		b.Run(strconv.Itoa(orders), func(b *testing.B) {
			store, err := store.OpenSQLite(b.Context(), filepath.Join(b.TempDir(), "orders.db"))
			if err != nil {
				b.Fatal(err)
			}
			defer store.Close()
			fillOrders(b, store, orders)
			x := newIndex(store, nil, quietly(follow.Options{}))
			var times []time.Duration
			for b.Loop() {
				begun := time.Now()
				locked, _, err := x.Locked(b.Context(), taker)
				if err != nil || len(locked) == 0 {
					b.Fatalf("Locked = %v, %v", locked, err)
				}
				times = append(times, time.Since(begun))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "ms-median")
		})
	}
}

const (
	locksOfTaker = 5000
	foldedAtOnce = 50_000
)

// fillOrders writes folded orders, by ascending ids.
func fillOrders(b *testing.B, db *store.DB, orders int) {
	b.Helper()
	for first := 0; first < orders; first += foldedAtOnce {
		err := db.Update(b.Context(), func(tx *store.Tx) error {
			rows := make([][]any, foldedAtOnce)
			for i := range rows {
				rows[i] = ledger.OrderRow(madeUp(first+i, orders))
			}
			return tx.ExecEach(b.Context(), ledger.UpsertOrder, rows)
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// madeUp is the order with a number, of so many: ids are spread evenly, each with a tail of its own.
func madeUp(number, orders int) *order.Order {
	var id order.ID
	binary.BigEndian.PutUint64(id[:], uint64(number)*(math.MaxUint64/uint64(orders)))
	binary.BigEndian.PutUint64(id[24:], uint64(number)*0x9e3779b97f4a7c15)
	token := chain.NewAddress([]byte("give token no. " + strconv.Itoa(10_000+number%7)))
	o := &order.Order{
		ID: id, State: order.StateClaimedUnlock, GiveFinal: chain.NewAmount(1_000_000_000_000_000_000 + uint64(number)),
		Terms: order.Terms{Give: order.Offer{Chain: 1, Token: token}, Take: order.Offer{Chain: 137}},
	}
	mine := number%(orders/locksOfTaker) == 0
	if mine || number%10 == 9 {
		authority := chain.NewAddress([]byte("authority no. " + strconv.Itoa(100_000+number%997)))
		if mine {
			authority = taker
		}
		o.State = order.StateFulfilled
		o.Created = &order.Seen[order.Created]{}
		o.Fulfilled = &order.Seen[order.Fulfilled]{Fact: order.Fulfilled{UnlockAuthority: authority}}
	}
	return o
}
