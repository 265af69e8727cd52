package query

import (
	"database/sql"
	"testing"

	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/ledger"
	"crossgate/store"
)

// TestOrdersAreFoundByIndexWhileAnIndexGrows begins with an empty PostgreSQL, whose first plans are for tables with
// nothing in them, and counts what is read of them later.
func TestOrdersAreFoundByIndexWhileAnIndexGrows(t *testing.T) {
	db, v := openPostgres(t), newInvented(5)
	var others string
	if _, err := db.QueryRow(t.Context(), []any{&others}, `SHOW max_parallel_workers_per_gather`); err != nil || others != "0" {
		t.Errorf("%s processes help to read a list, %v, want none", others, err)
	}
	add := func(orders int, then func(*ledger.Tx) error) {
		t.Helper()
		var events []order.Event
		for range orders {
			events = append(events, v.events()...)
		}
		must.Do(t, db.Update(t.Context(), func(tx *store.Tx) error {
			written := &ledger.Tx{Tx: tx}
			written.Add(events...)
			if _, err := written.Fold(t.Context()); err != nil {
				return err
			}
			return then(written)
		}))
	}
	const often = 12 // more than the five times after which PostgreSQL keeps a plan
	for range often {
		add(60, func(*ledger.Tx) error { return nil })
	}
	add(1500, func(*ledger.Tx) error { return nil })
	add(60, func(tx *ledger.Tx) error {
		return tx.ForEachRow(t.Context(), func(rows *sql.Rows) error {
			var table string
			var read int
			if err := rows.Scan(&table, &read); err != nil {
				return err
			}
			t.Errorf("%d rows of %s were read one after another, want those that an index finds alone", read, table)
			return nil
		}, `SELECT relname, seq_tup_read FROM pg_stat_xact_user_tables
			WHERE relname IN ('events', 'orders', 'listed') AND seq_tup_read > 0`)
	})
}
