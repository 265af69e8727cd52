package processes_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"crossgate/internal/must"
	"crossgate/sandbox/sandboxtest"
	"crossgate/store"
)

// TestRepairBesideAServingGateway loses and alters events of the sandbox's orders: the audit reports them and the
// repair restores them, with and without a gateway on the same database.
func TestRepairBesideAServingGateway(t *testing.T) {
	t.Parallel()
	world := sandboxtest.Shared(t)
	database := filepath.Join(t.TempDir(), "orders.db")
	file := filepath.Join(t.TempDir(), "gateway.yaml")
	must.Do(t, os.WriteFile(file, world.Config(database), 0o600))
	indexCommand(t, 0, "backfill", "--config", file)
	events := dump(t, database, allEvents)
	repair := func(damage string) {
		if repaired := indexCommand(t, 0, "index", "repair", "--config", file); !regexp.MustCompile(` [1-9]\d* events added`).MatchString(repaired) {
			t.Errorf("%s: the repair says\n%s", damage, repaired)
		}
	}
	damage := `DELETE FROM events WHERE kind IN (4, 1)`
	alter(t, database, damage)
	repair(damage)
	if got := dump(t, database, allEvents); got != events {
		t.Errorf("%s: after the repair the store holds\n%s\nwant\n%s", damage, got, events)
	}
	serveApart(t, string(world.Config(database)))
	damage = `UPDATE events SET block_time = block_time + 1; DELETE FROM events WHERE kind IN (5, 6)`
	alter(t, database, damage)
	if report := indexCommand(t, 1, "index", "audit", "--config", file); !strings.Contains(report, "missing: ") {
		t.Errorf("%s: the audit says\n%s", damage, report)
	}
	repair(damage)
	indexCommand(t, 0, "index", "audit", "--config", file)
}

// indexCommand runs the command, which must end with a code, and returns its output.
func indexCommand(t *testing.T, code int, arguments ...string) string {
	t.Helper()
	var out, bars bytes.Buffer
	command := exec.CommandContext(t.Context(), program(t), arguments...)
	command.Stdout, command.Stderr = &out, &bars
	err := command.Run()
	if exit, is := errors.AsType[*exec.ExitError](err); err != nil && !is || is && exit.ExitCode() != code || !is && code != 0 {
		t.Fatalf("crossgate %s: %v, want exit status %d:\n%s%s", strings.Join(arguments, " "), err, code, out.String(), bars.String())
	}
	return out.String()
}

func alter(t *testing.T, database, statement string) {
	t.Helper()
	withStore(t, database, func(db *store.DB) error {
		return db.Update(t.Context(), func(tx *store.Tx) error {
			_, err := tx.ExecContext(t.Context(), statement)
			return err
		})
	})
}

// allEvents is the query for all stored events.
const allEvents = `SELECT chain, block, log_index, kind, fact FROM events ORDER BY chain, block, log_index`

// dump returns rows as text.
func dump(t *testing.T, database, query string) string {
	t.Helper()
	var text strings.Builder
	withStore(t, database, func(db *store.DB) error {
		return db.ForEachRow(t.Context(), func(rows *sql.Rows) error {
			columns, err := rows.Columns()
			values := make([]any, len(columns))
			for i := range values {
				values[i] = new(sql.NullString)
			}
			err = errors.Join(err, rows.Scan(values...))
			for _, value := range values {
				fmt.Fprint(&text, value.(*sql.NullString).String, " ")
			}
			fmt.Fprintln(&text)
			return err
		}, query)
	})
	return text.String()
}

func withStore(t *testing.T, database string, do func(*store.DB) error) {
	t.Helper()
	db := must.Get(store.OpenSQLite(t.Context(), database))(t)
	must.Do(t, errors.Join(do(db), db.Close()))
}
