package query

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"crossgate/internal/must"
	"crossgate/internal/postgrestest"
	"crossgate/order/follow"
	"crossgate/store"
)

// shared is started by the first test that needs it, and stopped by TestMain.
var shared struct {
	once    sync.Once
	server  *postgrestest.Server
	missing error
	names   atomic.Int64
}

// openPostgres opens a store in a database of its own.
func openPostgres(t testing.TB) *store.DB {
	t.Helper()
	return openReplica(t, newDatabase(t))
}

func openReplica(t testing.TB, url string) *store.DB {
	t.Helper()
	store := must.Get(store.OpenPostgres(t.Context(), url, store.PostgresOptions{}))(t)
	t.Cleanup(func() { store.Close() })
	return store
}

// newDatabase makes an empty database on the shared server and returns its address.
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

// TestPostgresTellsTheSame follows chains that are rewritten into both databases.
func TestPostgresTellsTheSame(t *testing.T) {
	stores := []*store.DB{openStore(t), openPostgres(t)}
	deals := []deal{newDeal(1, 1, 137), newDeal(2, 1, 137), newDeal(3, 137, 1)}
	give, take := newTestChain(1), newTestChain(137)
	pass := func() {
		for _, store := range stores {
			catchUp(t, newFollower(store, 1, give, quietly(follow.Options{Range: 2})))
			catchUp(t, newFollower(store, 137, take, quietly(follow.Options{Range: 2})))
		}
		for _, d := range deals {
			if diff := cmp.Diff(stored(t, stores[0], d.id), stored(t, stores[1], d.id), compare); diff != "" {
				t.Fatalf("order %s (-SQLite +PostgreSQL):\n%s", d.id, diff)
			}
		}
		for _, store := range stores {
			checkListed(t, store)
		}
		if diff := cmp.Diff(lockedIn(t, stores[0]), lockedIn(t, stores[1]), compare); diff != "" {
			t.Fatalf("locked (-SQLite +PostgreSQL):\n%s", diff)
		}
	}
	give.mine([]told{deals[0].created(), deals[1].created()}, []told{deals[2].fulfilled()})
	pass()
	take.mine([]told{deals[0].fulfilled(), deals[1].fulfilled()}, []told{deals[2].created()})
	take.mine([]told{deals[0].sentUnlock()})
	pass()
	take.drop(2)
	take.mine([]told{deals[1].fulfilled()})
	take.mine()
	give.mine([]told{deals[1].claimedUnlock()})
	pass()
}
