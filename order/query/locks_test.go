package query

import (
	"database/sql"
	"strings"
	"testing"

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

const (
	locksOfTaker = 5000
	foldedAtOnce = 50_000
)
