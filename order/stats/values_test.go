package stats

import (
	"database/sql"
	"math/big"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/store"
)

// TestNonsensePricesAreNoValues values amounts at absurd prices.
func TestNonsensePricesAreNoValues(t *testing.T) {
	for _, row := range []struct {
		amount uint64
		usd    *big.Rat
		want   int64 // -1: unknown
	}{
		{1, big.NewRat(1, 1), 1_000_000},
		{0, nil, 0},
		{5, nil, -1},
		{1, big.NewRat(1, 3), 333_333},
		{3, big.NewRat(1, 10_000_000), 0},
		{1, big.NewRat(1_000_000_001, 1), -1},
		{1 << 63, big.NewRat(1<<62, 1), -1},
	} {
		got := int64(-1)
		if n := micros(chain.NewAmount(row.amount), row.usd); n != nil {
			got = *n
		}
		if got != row.want {
			t.Errorf("micros(%d, %v) = %d, want %d", row.amount, row.usd, got, row.want)
		}
	}
}

// TestDeliveryTimesReadNothingButTheirIndex checks SQLite's query plan.
func TestDeliveryTimesReadNothingButTheirIndex(t *testing.T) {
	db := must.Get(store.OpenSQLite(t.Context(), t.TempDir()+"/orders.db"))(t)
	t.Cleanup(func() { db.Close() })
	var plan []string
	err := db.ForEachRow(t.Context(), func(rows *sql.Rows) error {
		var id, parent, unused int
		var step string
		err := rows.Scan(&id, &parent, &unused, &step)
		plan = append(plan, step)
		return err
	}, "EXPLAIN QUERY PLAN "+deliveredIn, 1, 2)
	if err != nil || len(plan) == 0 || !strings.Contains(plan[0], "USING COVERING INDEX order_values_day (day>? AND day<?)") {
		t.Errorf("the plan is %q, %v", plan, err)
	}
}
