package store

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/internal/postgrestest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if shared.server != nil {
			if err := shared.server.Remove(); err != nil {
				fmt.Fprintln(os.Stderr, "stop PostgreSQL:", err)
				code = 1
			}
		}
		os.Exit(code)
	}))
}

// shared is started by the first test that needs it, and stopped by TestMain.
var shared struct {
	once    sync.Once
	server  *postgrestest.Server
	missing error
	names   int
}

// compare lets cmp compare the unexported fields of package chain.
var compare = cmp.Comparer(func(a, b chain.Address) bool { return a == b })

func openStore(t *testing.T) *DB {
	t.Helper()
	return openStoreAt(t, filepath.Join(t.TempDir(), "orders.db"))
}

func openStoreAt(t *testing.T, path string) *DB {
	t.Helper()
	return closing(t)(OpenSQLite(t.Context(), path))
}

// openPostgres opens a new database.
func openPostgres(t *testing.T) *DB {
	t.Helper()
	return openReplica(t, newDatabase(t))
}

func openReplica(t *testing.T, url string) *DB {
	t.Helper()
	return closing(t)(OpenPostgres(t.Context(), url, PostgresOptions{}))
}

func closing(t *testing.T) func(*DB, error) *DB {
	return func(db *DB, err error) *DB {
		t.Helper()
		must.Do(t, err)
		t.Cleanup(func() { db.Close() })
		return db
	}
}

// newDatabase creates an empty database on the shared server and returns its address.
func newDatabase(t *testing.T) string {
	t.Helper()
	shared.once.Do(func() { shared.server, shared.missing = postgrestest.Start() })
	if shared.missing != nil {
		t.Skipf("no PostgreSQL to test with: %v", shared.missing)
	}
	shared.names++
	return must.Get(shared.server.Create(fmt.Sprintf("store%d", shared.names)))(t)
}

// TestAFailureThatLastsIsLoggedSeldom: one of half an hour three times, and its end once.
func TestAFailureThatLastsIsLoggedSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f Failure
		var said strings.Builder
		log := func(err error) { f.Log(t.Context(), slog.New(slog.NewTextHandler(&said, nil)), err, "away", "back") }
		log(nil)
		for range 31 {
			log(errors.New("no route"))
			time.Sleep(time.Minute)
		}
		time.Sleep(time.Hour)
		log(fmt.Errorf("begin: %w", ErrUnavailable))
		log(nil)
		log(nil)
		if got := said.String(); strings.Count(got, "no route") != 3 || strings.Count(got, "back") != 1 || strings.Count(got, "\n") != 4 {
			t.Errorf("logged\n%s\nwant three lines, and one at its end", got)
		}
	})
}
