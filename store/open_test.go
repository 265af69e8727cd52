package store

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/internal/postgrestest"
	"crossgate/token"
)

// filled creates a database with some tokens and returns its path.
func filled(t *testing.T) string {
	t.Helper()
	path := t.TempDir() + "/orders.db"
	db := must.Get(OpenSQLite(t.Context(), path))(t)
	six, readings := uint8(6), map[token.Key]token.Reading{}
	for i := range 500 {
		readings[token.Key{Chain: 1, Address: chain.NewAddress([]byte{byte(i), byte(i >> 8)})}] = token.Reading{Decimals: &six, Name: "a token"}
	}
	must.Do(t, db.SaveTokens(t.Context(), readings))
	must.Do(t, db.Close())
	return path
}

// TestOpenTogether opens new files concurrently, as a gateway and a backfill do.
func TestOpenTogether(t *testing.T) {
	for range 5 {
		path := t.TempDir() + "/orders.db"
		var opening sync.WaitGroup
		for range 4 {
			opening.Go(func() {
				store, err := OpenSQLite(t.Context(), path)
				if err != nil {
					t.Error(err)
					return
				}
				if err := store.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		opening.Wait()
	}
}

func TestOpenTakesAnyPathOfAFile(t *testing.T) {
	path := t.TempDir() + "/a name? with #signs & 100%.db"
	openStoreAt(t, path)
	must.Get(os.Stat(path))(t)
	directory := filepath.Dir(path)
	if _, err := OpenSQLite(t.Context(), directory); !strings.HasSuffix(text(err), directory+": it is a directory: name a file in it") {
		t.Errorf("OpenSQLite of a directory: %v", err)
	}
}

func TestOpenRefusesAndKeeps(t *testing.T) {
	damage := func(path string, at int64) {
		file := must.Get(os.OpenFile(path, os.O_RDWR, 0))(t)
		defer file.Close()
		must.Get(file.WriteAt(bytes.Repeat([]byte{0xa5}, 2000), at))(t)
	}
	alter := func(path, statement string) {
		db := must.Get(openFile(path, 1, nil))(t)
		defer db.Close()
		must.Get(db.ExecContext(t.Context(), statement))(t)
	}
	for name, test := range map[string]struct {
		spoil func(path string)
		says  []string
	}{
		"newer schema": {
			func(path string) {
				alter(path, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, true); UPDATE compatibility SET oldest = 999`)
			},
			[]string{"version 999", "run the newer crossgate"},
		},
		"somebody else's": {
			func(path string) {
				_ = os.Remove(path)
				alter(path, `CREATE TABLE accounts (id INTEGER)`)
			},
			[]string{`"accounts"`, "set another path"},
		},
		"damaged": {func(path string) { damage(path, 100) }, []string{"damaged", "left as it is", "reads the chains again"}},
		"no database": {
			func(path string) { _ = os.WriteFile(path, bytes.Repeat([]byte("letters to my aunt "), 300), 0o600) },
			[]string{"not a database", "left as it is", "set another path"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filled(t)
			test.spoil(path)
			before := must.Get(os.ReadFile(path))(t)
			store, err := OpenSQLite(t.Context(), path)
			if err == nil {
				store.Close()
				t.Fatal("it was opened")
			}
			for _, want := range append(test.says, path) {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("Open: %v, want %q in it", err, want)
				}
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
				t.Errorf("the file was changed, %v", err)
			}
		})
	}
}

func TestPostgresRefusesWhatIsNotItsOwn(t *testing.T) {
	const others = `it holds a table "accounts" of another program`
	for spoil, want := range map[string]string{
		`DROP SCHEMA public CASCADE; CREATE SCHEMA public; CREATE TABLE accounts (id INTEGER)`: others,
		`DROP SCHEMA public CASCADE; CREATE SCHEMA public; CREATE TABLE accounts (id INTEGER);
			CREATE TABLE goose_db_version (version_id BIGINT); INSERT INTO goose_db_version VALUES (1)`: others,
		`DELETE FROM goose_db_version`: "it holds tables but not the version of their schema",
		`DROP TABLE goose_db_version`:  "it holds tables but not the version of their schema",
	} {
		l := Location{Postgres: newDatabase(t)}
		must.Get(openReplica(t, l.Postgres).writer.ExecContext(t.Context(), spoil))(t)
		for name, open := range opening(t, l) {
			if err := open(); !strings.Contains(text(err), want) {
				t.Errorf("%s after %s: %v, want %s", name, spoil, err, want)
			}
		}
	}
}

// TestOneGatewayOwnsAFile starts a second one on a link to it, and one where the file system refuses the lock.
func TestOneGatewayOwnsAFile(t *testing.T) {
	path, link := t.TempDir()+"/orders.db", t.TempDir()+"/link.db"
	must.Do(t, os.Symlink(path, link))
	var log bytes.Buffer
	own := func(db *DB) error { return db.Own(t.Context(), slog.New(slog.NewTextHandler(&log, nil))) }
	first := must.Get(OpenSQLite(t.Context(), path))(t)
	second := openStoreAt(t, link)
	must.Do(t, own(first))
	if err := own(second); !strings.HasSuffix(text(err), link+": another gateway uses it: stop that one first, or set index.postgres for several") {
		t.Errorf("Own of an owned file = %v", err)
	}
	must.Do(t, first.Close())
	must.Do(t, own(second))
	path = t.TempDir() + "/orders.db"
	must.Do(t, os.Mkdir(path+".lock", 0o700))
	must.Do(t, own(openStoreAt(t, path)))
	if strings.Count(log.String(), "database cannot be locked: make sure that no other gateway uses it") != 1 {
		t.Errorf("without a lock the log has %q", &log)
	}
}

// TestOpenWaitsForWhoBeganTheFile lets another connection write to a new file that does not use a write-ahead log yet:
// SQLite itself does not wait in that case.
func TestOpenWaitsForWhoBeganTheFile(t *testing.T) {
	path := t.TempDir() + "/orders.db"
	other := must.Get(openFile(path, 1, url.Values{"_txlock": {"immediate"}}))(t)
	defer other.Close()
	begun := must.Get(other.BeginTx(t.Context(), nil))(t)
	limited, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := OpenSQLite(limited, path); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("OpenSQLite beside who writes: %v, want that it waits", err)
	}
	must.Do(t, begun.Rollback())
	openStoreAt(t, path)
}

// TestPostgresURLThatCannotBeUsed: errors say what to fix, without passwords and paths.
func TestPostgresURLThatCannotBeUsed(t *testing.T) {
	const malformed = "malformed PostgreSQL URL: want postgres://user:password@host:5432/database, with characters of the password " +
		"other than letters and digits percent-encoded"
	for address, want := range map[string]string{
		"postgres://orders:canary%zz@127.0.0.1/orders":                                                 malformed,
		"postgres://orders:can/ary@127.0.0.1/orders":                                                   malformed,
		"postgres://orders:canary@127.0.0.1:port/orders":                                               malformed,
		"postgres://orders:canary@127.0.0.1/orders?sslmode=verify-full&sslrootcert=/absent/canary.pem": "PostgreSQL URL: a file that it names: no such file or directory",
		"postgres://orders:canary@127.0.0.1/orders?sslmode=verify-full":                                "",
		"": "",
	} {
		l := Location{Postgres: address, Path: filepath.Join(t.TempDir(), "orders.db")}
		err := l.Check()
		if got := text(err); got != want {
			t.Errorf("Check of %q = %q, want %q", address, got, want)
		}
		if want == "" {
			continue
		}
		for name, open := range opening(t, l) {
			if got := text(open()); !strings.Contains(got, want) || strings.Contains(got, "canary") {
				t.Errorf("%s of %q = %q, want %q in it", name, address, got, want)
			}
		}
	}
}

// opening returns ways to open a database, by name.
func opening(t *testing.T, l Location) map[string]func() error {
	return map[string]func() error{
		"Inspect":      func() error { return l.Inspect(t.Context()) },
		"Schema":       func() error { _, err := l.Schema(t.Context()); return err },
		"OpenPostgres": func() error { _, err := OpenPostgres(t.Context(), l.Postgres, PostgresOptions{}); return err },
	}
}

// TestPostgresThatCannotBeReachedIsToldInOneLine uses an address without sslmode, which pgx tries with and without TLS.
func TestPostgresThatCannotBeReachedIsToldInOneLine(t *testing.T) {
	for name, open := range opening(t, Location{Postgres: "postgres://orders:canary@127.0.0.1:1/orders"}) {
		err := open()
		if said := text(err); strings.Contains(said, "\n") || strings.Count(said, "127.0.0.1:1 (127.0.0.1)") != 1 || strings.Contains(said, "canary") {
			t.Errorf("%s = %q, want one line with the address once", name, said)
		}
		if !errors.As(err, new(*pgconn.ConnectError)) {
			t.Errorf("%s = %v, want the cause in it", name, err)
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// pooled returns the address of a new database behind a PgBouncer.
func pooled(t *testing.T, mode string) string {
	t.Helper()
	direct := newDatabase(t)
	at := must.Get(url.Parse(direct))(t)
	pooler, err := shared.server.NewPooler(strings.TrimPrefix(at.Path, "/"), mode)
	if errors.Is(err, postgrestest.ErrNoPooler) {
		t.Skip(err)
	}
	must.Do(t, err)
	t.Cleanup(func() { must.Do(t, pooler.Close()) })
	return pooler.To(direct)
}

// TestSessionPooling uses a database through a PgBouncer that assigns a server connection to each client connection:
// everything that belongs to a connection works, and PgBouncer needs no setting for it.
func TestSessionPooling(t *testing.T) {
	address := pooled(t, "session")
	one, other := openReplica(t, address), openReplica(t, address)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	heard := must.Get(other.Subscribe(ctx, "orders"))(t)
	defer heard.Close(ctx)
	const job = "follow 1"
	held, granted, err := one.Claim(ctx, job)
	if err != nil || !granted {
		t.Fatalf("Claim = %v, %v", granted, err)
	}
	if _, granted, err := other.Claim(ctx, job); err != nil || granted {
		t.Errorf("Claim of a held lease = %v, %v", granted, err)
	}
	must.Do(t, one.UpdateUnder(ctx, held, func(tx *Tx) error { return tx.Notify(ctx, "orders", "news") }))
	if _, payload, err := heard.Next(ctx); payload != "news" || err != nil {
		t.Errorf("Next = %q, %v", payload, err)
	}
	var limit string
	if _, err := one.QueryRow(ctx, []any{&limit}, `SHOW idle_in_transaction_session_timeout`); err != nil || limit != "5s" {
		t.Errorf("idle transactions end after %q, %v, want 5s", limit, err)
	}
}

// TestPoolingByTransactionIsRefused uses PgBouncers that assign a server connection per transaction or statement: a
// connection's notifications and locks would belong to others.
func TestPoolingByTransactionIsRefused(t *testing.T) {
	for _, mode := range []string{"transaction", "statement"} {
		t.Run(mode, func(t *testing.T) {
			address := pooled(t, mode)
			db, err := OpenPostgres(t.Context(), address, PostgresOptions{Wait: time.Hour})
			if err == nil {
				db.Close()
			}
			if !errors.Is(err, errPooled) {
				t.Errorf("OpenPostgres = %v, want %v", err, errPooled)
			}
		})
	}
}
