package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pressly/goose/v3"

	"crossgate/internal/must"
)

// fill writes events and orders, some with empty bytes, and returns the events as text.
func fill(t *testing.T, db *DB) []string {
	t.Helper()
	must.Do(t, db.Update(t.Context(), func(tx *Tx) error {
		var events, orders [][]any
		for n := range int64(300) {
			id := fmt.Appendf(nil, "order %026d", n)
			events = append(events, []any{n % 3, n, id, id, 0, n, `{"a":"’"}`})
			orders = append(orders, []any{n, id, n % 3, strings.Repeat("9", 70)})
		}
		err := tx.ExecEach(t.Context(), `INSERT INTO events (chain, block, log_index, block_hash, block_time, tx, initiator, order_number, party, kind, fact)
			VALUES ($1, $2, 0, $3, 1, $4, $5, $6, 0, 1, $7)`, events)
		if err != nil {
			return err
		}
		return tx.ExecEach(t.Context(), `INSERT INTO orders (number, id, give_chain, take_chain, terms) VALUES ($1, $2, $3, 137, $4)`, orders)
	}))
	return eventsOf(t, db)
}

func eventsOf(t *testing.T, db *DB) (events []string) {
	t.Helper()
	must.Do(t, db.ForEachRow(t.Context(), func(rows *sql.Rows) error {
		var id, fact string
		err := rows.Scan(&id, &fact)
		events = append(events, id+fact)
		return err
	}, `SELECT id, fact FROM events JOIN orders ON number = order_number ORDER BY id`))
	return events
}

// TestABackupIsRestored backs up a file while it is written. The files hold secrets of webhooks.
func TestABackupIsRestored(t *testing.T) {
	dir := t.TempDir()
	from, to := Location{Path: filepath.Join(dir, "orders.db")}, Location{Path: filepath.Join(dir, "restored.db")}
	backup := filepath.Join(dir, "backup.db")
	db := openAt(t, from)
	want := fill(t, db)
	stop := keepWriting(t, db)
	must.Do(t, from.Backup(t.Context(), backup))
	stop()
	must.Do(t, to.Restore(t.Context(), backup))
	if got := eventsOf(t, openAt(t, to)); !slices.Equal(got, want) || len(got) != 300 {
		t.Errorf("restored %d events, want %d", len(got), len(want))
	}
	if err := to.Restore(t.Context(), backup); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Errorf("a restore over a database: %v, want a refusal", err)
	}
	for _, path := range []string{from.Path, from.Path + "-wal", backup, to.Path} {
		if mode := must.Get(os.Stat(path))(t).Mode(); mode.Perm() != 0o600 {
			t.Errorf("%s is %v, want that no other user reads it", path, mode)
		}
	}
	moved := Location{Path: filepath.Join(dir, "moved.db")}
	must.Do(t, os.WriteFile(moved.Path+"-wal", []byte("changes of the file that was moved away"), 0o600))
	if err := moved.Restore(t.Context(), backup); err == nil || !strings.Contains(err.Error(), moved.Path+"-wal is left") {
		t.Errorf("a restore beside the log of another database: %v, want a refusal", err)
	}
	beyond := filepath.Join(dir, "absent", "backup.db")
	if err := from.Backup(t.Context(), beyond); err == nil || !strings.Contains(err.Error(), beyond+": its directory does not exist") {
		t.Errorf("a backup into %s: %v, want that its directory does not exist", beyond, err)
	}
	link := filepath.Join(dir, "link") // as /dev/stdout, which root could replace
	must.Do(t, os.Symlink("/dev/null", link))
	for _, taken := range []string{backup, link} {
		if err := from.Backup(t.Context(), taken); err == nil || !strings.Contains(err.Error(), "exists") {
			t.Errorf("a backup into %s: %v, want that it exists", taken, err)
		}
	}
}

// TestPostgreSQLIsRestoredByItsOwnTools follows the section on backups in docs/operations.md.
func TestPostgreSQLIsRestoredByItsOwnTools(t *testing.T) {
	from, to := newDatabase(t), newDatabase(t)
	db := openReplica(t, from)
	want := fill(t, db)
	tool := func(name string, arguments ...string) {
		t.Helper()
		if said, err := exec.CommandContext(t.Context(), shared.server.Program(name), arguments...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", name, err, said)
		}
	}
	backup := filepath.Join(t.TempDir(), "crossgate.dump")
	stop := keepWriting(t, db)
	tool("pg_dump", "--format=custom", "--file", backup, from)
	stop()
	tool("pg_restore", "--no-owner", "--exit-on-error", "--dbname", to, backup)
	if got := eventsOf(t, openReplica(t, to)); !slices.Equal(got, want) || len(got) != 300 {
		t.Errorf("restored %d events, want %d", len(got), len(want))
	}
	for what, err := range map[string]error{
		"Backup": (Location{Postgres: from}).Backup(t.Context(), backup), "Restore": (Location{Postgres: to}).Restore(t.Context(), backup),
	} {
		if !errors.Is(err, errOwnTools) {
			t.Errorf("%s of a PostgreSQL: %v, want %v", what, err, errOwnTools)
		}
	}
}

func openAt(t *testing.T, l Location) *DB {
	t.Helper()
	return closing(t)(openLocation(t.Context(), l))
}

// keepWriting changes endpoints' plans until stop.
func keepWriting(t *testing.T, db *DB) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var writing sync.WaitGroup
	writing.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			_, err := db.ClaimPlans(ctx, []PlanClaim{{Service: "1", Endpoint: fmt.Sprint(n), Claim: 1}})
			if err != nil && ctx.Err() == nil {
				t.Error(err)
				return
			}
		}
	})
	return func() { cancel(); writing.Wait() }
}

func TestRestoreRefusesWhatIsNoBackup(t *testing.T) {
	dir := t.TempDir()
	text, damaged, empty := filepath.Join(dir, "text"), filepath.Join(dir, "damaged"), filepath.Join(dir, "empty")
	whole := must.Get(os.ReadFile(filled(t)))(t)
	copy(whole[3*4096:], strings.Repeat("x", 2*4096))
	must.Do(t, errors.Join(os.WriteFile(text, []byte(strings.Repeat("letters ", 999)), 0o600), os.WriteFile(damaged, whole, 0o600), os.WriteFile(empty, nil, 0o600)))
	for file, says := range map[string]string{filepath.Join(dir, "absent"): "does not exist", text: "not a database", damaged: "damaged", empty: "it is empty"} {
		to := Location{Path: filepath.Join(dir, "orders.db")}
		if err := to.Restore(t.Context(), file); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("Restore of %s: %v, want %q in it", file, err, says)
		}
		if _, err := os.Stat(to.Path); err == nil {
			t.Errorf("Restore of %s left a file", file)
		}
	}
}

// TestOlderReleaseUsesANewerSchema opens databases migrated by a newer release: with additions, and with an
// incompatible change.
func TestOlderReleaseUsesANewerSchema(t *testing.T) {
	for _, l := range []Location{{Path: filepath.Join(t.TempDir(), "orders.db")}, {Postgres: newDatabase(t)}} {
		if _, err := l.Schema(t.Context()); err == nil && l.Postgres == "" {
			t.Error("a file that is not there has a schema")
		}
		newer := openAt(t, l)
		now, err := l.Schema(t.Context())
		if err != nil || !now.IsUsable() || now.Version != now.Known || now.Oldest != 1 {
			t.Fatalf("%s: a new one: %+v, %v; want the newest version, for programs since 1", l, now, err)
		}
		newest := now.Version
		migrateFurther := func(version int64, statement string) {
			t.Helper()
			for _, each := range []string{
				fmt.Sprintf(`INSERT INTO %s (version_id, is_applied) VALUES (%d, true)`, goose.DefaultTablename, version), statement,
			} {
				must.Get(newer.writer.ExecContext(t.Context(), each))(t)
			}
		}
		migrateFurther(newest+1, `ALTER TABLE checkpoints ADD COLUMN colour TEXT NOT NULL DEFAULT ''`)
		fill(t, openAt(t, l))
		migrateFurther(newest+2, fmt.Sprintf(`UPDATE compatibility SET oldest = %d`, newest+2))
		next, err := l.Schema(t.Context())
		if want := (Schema{Version: newest + 2, Oldest: newest + 2, Known: newest}); err != nil || next != want || next.IsUsable() {
			t.Errorf("%s: a newer one: %+v, %v; want %+v, not usable", l, next, err, want)
		}
		_, err = openLocation(t.Context(), l)
		refusal, remedy := fmt.Sprintf("version %d, which this build cannot use", newest+2), "restore a backup"
		if err == nil || !strings.Contains(err.Error(), refusal) || !strings.Contains(err.Error(), remedy) {
			t.Errorf("%s: a schema that this build cannot use: %v", l, err)
		}
	}
}

func openLocation(ctx context.Context, l Location) (*DB, error) {
	if l.Postgres != "" {
		return OpenPostgres(ctx, l.Postgres, PostgresOptions{})
	}
	return OpenSQLite(ctx, l.Path)
}
