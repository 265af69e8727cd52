package query

import (
	"database/sql"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/internal/postgrestest"
	"crossgate/order"
	"crossgate/order/follow"
	"crossgate/order/ledger"
	"crossgate/store"
)

// shared is started by the first test that needs it, and stopped by TestMain.
var shared struct {
	once    sync.Once
	server  *postgrestest.Server
	missing error
	names   atomic.Int64
}

// openPostgres opens a store in a new database.
func openPostgres(t testing.TB) *store.DB {
	t.Helper()
	return openReplica(t, newDatabase(t))
}

// onBoth runs a test on a database of each kind.
func onBoth(t *testing.T, test func(t *testing.T, db *store.DB)) {
	t.Helper()
	for name, open := range map[string]func(testing.TB) *store.DB{"SQLite": openStore, "PostgreSQL": openPostgres} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func openReplica(t testing.TB, url string) *store.DB {
	t.Helper()
	store := must.Get(store.OpenPostgres(t.Context(), url, store.PostgresOptions{}))(t)
	t.Cleanup(func() { store.Close() })
	return store
}

// newDatabase creates an empty database on the shared server and returns its address.
func newDatabase(t testing.TB) string {
	t.Helper()
	shared.once.Do(func() { shared.server, shared.missing = postgrestest.Start() })
	if shared.missing != nil {
		t.Skipf("no PostgreSQL to test with: %v", shared.missing)
	}
	return create(t, shared.server, fmt.Sprintf("index%d", shared.names.Add(1)))
}

func create(t testing.TB, server *postgrestest.Server, database string) string {
	t.Helper()
	url := must.Get(server.Create(database))(t)
	return url
}

// TestOrdersAreFoundByIndexWhileAnIndexGrows starts with an empty PostgreSQL, whose first query plans are for empty
// tables, and counts the rows read later.
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
	const often = 12 // PostgreSQL keeps a plan after five executions
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

// TestOrdersTakeTwoRoundTrips counts round trips to the database for finding the orders of one transaction that are
// stored and not final: one for all of their events, and one for all blocks of these. A slow link delays each of them.
func TestOrdersTakeTwoRoundTrips(t *testing.T) {
	direct := newDatabase(t)
	link := must.Get(shared.server.NewLink())(t)
	t.Cleanup(func() { link.Close() })
	give, take := newTestChain(1), newTestChain(137)
	var creations []chain.TxHash
	for i := range byte(2) {
		first, second, third := newDeal(3*i+1, 1, 137), newDeal(3*i+2, 1, 137), newDeal(3*i+3, 1, 137)
		creations = append(creations, give.mine([]told{first.created(), second.created(), third.created()})...)
		take.mine([]told{first.fulfilled()}, []told{second.fulfilled(), third.fulfilled()})
		take.mine([]told{second.sentUnlock()})
	}
	db := openReplica(t, link.To(direct))
	x := newIndex(db, map[chain.ID]order.Source{1: give, 137: take}, quietly(follow.Options{Chains: evmChains(1, 137)}))
	followAll(t, x)
	for i, tx := range creations {
		before := link.RoundTrips()
		found, _, err := x.Find(t.Context(), tx)
		if err != nil || len(found) != 3 {
			t.Fatalf("Find = %v, %v, want 3 orders", found, err)
		}
		for _, o := range found {
			if o.Basis.Chains[0].Final || o.Basis.Chains[0].Unread || o.Basis.Chains[1].Unread {
				t.Errorf("order %s rests on %+v, want blocks that were read and are not final", o.ID, o.Basis.Chains)
			}
		}
		made := link.RoundTrips() - before
		if i > 0 && made != 2 { // the first one connects and prepares the statements
			t.Errorf("%d round trips, want 2", made)
		}
	}
}
