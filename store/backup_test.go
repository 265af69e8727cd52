package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pressly/goose/v3"
)

// fill writes rows into every table, with empty bytes, texts of all kinds and numbers that are NULL among them.
func fill(t *testing.T, at Location, db *DB) {
	t.Helper()
	none, some := Blob(nil), []byte("some bytes")
	rows := map[string][][]any{
		"capabilities":     {{"1", "node", `{"span":1000}`, 1}},
		"checkpoints":      {{1, 2, 3, 4, 5, 6, 7, 8}},
		"daily_statistics": {{1, 1, 137, 2, 1, 0, 1, 10, 1, 9, 1, 1, 1, 0, 0, 2, 1}},
		"listed_tokens":    {{"a list", 1, none, 6, "a token", "", ""}},
		"listed":           {{some, 0, 1, 9, 0, none, some, none, none, none, none, none, none, none}},
		"listed_counts":    {{1, 9, 0, 300}},
		"order_tokens":     {{1, 1, none, 1}},
		"order_values": {
			{some, 1, 1, 137, none, some, none, some, 1, 0, 0, 10, 9, 1, 0, 12},
			{none, 1, 1, 137, none, some, none, some, 0, 1, 1, nil, nil, nil, nil, nil},
		},
		"plans":              {{"1", "node", 5}},
		"quarantined_blocks": {{1, 3, "no receipt", 4}},
		"anchors":            {{1, 2, some}},
		"swap_checkpoints":   {{1, 2, 3, 4, 5, 6}},
		"swaps":              {{1, 2, 3, some, 4, some, some, some, some, none, "5", none, "6", "0", none, "0", 0}},
		"token_lists":        {{"a list", `"etag"`, 1, 2}},
		"tokens":             {{1, none, 6, "a token", ""}},
		"stale_days":         {{1}},
		"uncounted":          {{some}},
		"unlisted":           {{some}},
		"venue_days":         {{1, "a venue", 3, 2, 1, 0}},
	}
	for n := range int64(300) {
		id := fmt.Appendf(nil, "order %026d", n)
		rows["events"] = append(rows["events"], []any{n % 3, n, 0, id, 1, id, none, id, "created", `{"a":"’"}`})
		rows["orders"] = append(rows["orders"], []any{id, 1, 0, none, n % 3, none, strings.Repeat("9", 70), 137})
		rows["blocks"] = append(rows["blocks"], []any{n % 3, n, id})
	}
	columns := map[string][]string{} // by table
	err := at.using(func(db database) error {
		tables, err := db.contents(t.Context(), db)
		for _, name := range tables {
			read, failed := readTable(t.Context(), db, name, silent)
			columns[name] = read.columns
			err = errors.Join(err, failed, read.Close())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(t.Context(), func(tx *Tx) error {
		for _, name := range slices.Sorted(maps.Keys(columns)) {
			if len(rows[name]) == 0 {
				t.Fatalf("this test has no rows for the table %s", name)
			}
			if _, err := tx.ExecContext(t.Context(), `DELETE FROM `+name); err != nil { // what migrations and triggers made
				return err
			}
			width := len(rows[name][0])
			err := tx.ExecEach(t.Context(), `INSERT INTO `+name+` (`+strings.Join(columns[name][:width], ", ")+
				`) VALUES (`+Placeholders(1, width)+`)`, rows[name])
			if err != nil {
				return fmt.Errorf("table %s: %w", name, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// dump is all that is in the tables of a database.
func dump(t *testing.T, l Location) map[string][]string {
	t.Helper()
	rows := map[string][]string{}
	err := l.using(func(db database) error {
		tables, err := db.contents(t.Context(), db)
		if err != nil {
			return err
		}
		for _, name := range tables {
			read, err := readTable(t.Context(), db, name, silent)
			if err != nil {
				return err
			}
			for read.Next() {
				values, err := read.values()
				if err != nil {
					return err
				}
				rows[name] = append(rows[name], fmt.Sprintf("%s", values))
			}
			slices.Sort(rows[name])
			if err := errors.Join(read.Err(), read.Close()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestBackupsAreRestoredIntoEitherDatabase backs up databases that are being written, and restores each into both.
func TestBackupsAreRestoredIntoEitherDatabase(t *testing.T) {
	dir := t.TempDir()
	file, url := filepath.Join(dir, "orders.db"), newDatabase(t)
	for i, from := range []Location{{Path: file}, {Postgres: url}} {
		db := openAt(t, from)
		fill(t, from, db)
		want := dump(t, from)
		if len(want["events"]) != 300 || len(want["order_values"]) != 2 {
			t.Fatalf("%s holds %d events, %d values", from, len(want["events"]), len(want["order_values"]))
		}
		backup := filepath.Join(dir, fmt.Sprintf("backup%d.db", i))
		stop := keepWriting(t, db)
		if err := from.Backup(t.Context(), backup, silent); err != nil {
			t.Fatal(err)
		}
		stop()
		for _, to := range []Location{{Path: filepath.Join(dir, fmt.Sprintf("restored%d.db", i))}, {Postgres: newDatabase(t)}} {
			if err := to.Restore(t.Context(), backup, silent); err != nil {
				t.Fatalf("restore %s from one of %s: %v", to, from, err)
			}
			openAt(t, to)
			got := dump(t, to)
			got["plans"] = want["plans"] // which were written meanwhile
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s restored from a backup of %s (-was +is):\n%s", to, from, diff)
			}
			if err := to.Restore(t.Context(), backup, silent); err == nil {
				t.Errorf("%s was restored over what it held", to)
			}
		}
		beyond := filepath.Join(t.TempDir(), "absent", "backup.db")
		if err := from.Backup(t.Context(), beyond, silent); err == nil || !strings.Contains(err.Error(), beyond+": its directory does not exist") {
			t.Errorf("a backup into %s: %v, want that its directory does not exist", beyond, err)
		}
		if err := from.Backup(t.Context(), backup, silent); err == nil || !strings.Contains(err.Error(), "exists") {
			t.Errorf("a second backup into %s: %v, want that it exists", backup, err)
		}
	}
}

// silent is for backups of which nothing is said.
func silent(string, ...any) {}

func openAt(t *testing.T, l Location) *DB {
	t.Helper()
	return closing(t)(openLocation(t.Context(), l))
}

// keepWriting changes the plans of endpoints until stop.
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
	text, damaged := filepath.Join(dir, "text"), filepath.Join(dir, "damaged")
	whole, err := os.ReadFile(filled(t))
	if err != nil {
		t.Fatal(err)
	}
	copy(whole[3*4096:], strings.Repeat("x", 2*4096))
	if err := errors.Join(os.WriteFile(text, []byte(strings.Repeat("letters ", 999)), 0o600), os.WriteFile(damaged, whole, 0o600)); err != nil {
		t.Fatal(err)
	}
	for file, says := range map[string]string{filepath.Join(dir, "absent"): "no such file", text: "not a database", damaged: "damaged"} {
		to := Location{Path: filepath.Join(dir, "orders.db")}
		if err := to.Restore(t.Context(), file, silent); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("Restore of %s: %v, want %q in it", file, err, says)
		}
		if _, err := os.Stat(to.Path); err == nil {
			t.Errorf("Restore of %s left a file", file)
		}
	}
}

// TestABackupHasItsChecksum has sha256sum check a backup, and changes a letter of it that SQLite would not miss.
func TestABackupHasItsChecksum(t *testing.T) {
	dir := t.TempDir()
	backup, to := filepath.Join(dir, "backup.db"), Location{Path: filepath.Join(dir, "orders.db")}
	if err := (Location{Path: filled(t)}).Backup(t.Context(), backup, silent); err != nil {
		t.Fatal(err)
	}
	check := exec.CommandContext(t.Context(), "sha256sum", "--check", "backup.db.sha256")
	check.Dir = dir
	if said, err := check.CombinedOutput(); err != nil {
		t.Errorf("sha256sum: %v: %s", err, said)
	}
	raw, err := os.ReadFile(backup)
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Replace(raw, []byte("a token"), []byte("a taken"), 1)
	if err := os.WriteFile(backup, changed, 0o600); err != nil || bytes.Equal(raw, changed) {
		t.Fatal("nothing was changed", err)
	}
	if err := to.Restore(t.Context(), backup, silent); err == nil || !strings.Contains(err.Error(), "another checksum than backup.db.sha256") {
		t.Errorf("Restore of a changed backup: %v", err)
	}
	if _, err := os.Stat(to.Path); err == nil {
		t.Error("it was restored nevertheless")
	}
	if err := errors.Join(os.Remove(backup+checksumSuffix), to.Restore(t.Context(), backup, silent)); err != nil {
		t.Errorf("Restore of a backup without a checksum, as earlier releases make them: %v", err)
	}
}

// TestSchemaGoesBackAndForth takes the newest version away and brings it back, with what the others hold.
func TestSchemaGoesBackAndForth(t *testing.T) {
	for _, l := range []Location{{Path: filepath.Join(t.TempDir(), "orders.db")}, {Postgres: newDatabase(t)}} {
		db := openAt(t, l)
		fill(t, l, db)
		if l.Postgres != "" {
			held, _, err := db.Claim(t.Context(), "follow 1")
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := l.Migrate(t.Context(), 5); !errors.Is(err, errInUse) {
				t.Errorf("Migrate beneath a gateway: %v, want a refusal", err)
			}
			if err := db.release(t.Context(), held); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		want := dump(t, l)["events"]
		newest, _, err := l.Migrate(t.Context(), 5)
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range [][3]int64{{6, 5, 6}, {0, 6, newest}, {8, newest, 8}, {0, 8, newest}, {0, newest, newest}} {
			before, after, err := l.Migrate(t.Context(), step[0])
			if err != nil || before != step[1] || after != step[2] {
				t.Errorf("%s: Migrate to %d = from %d to %d, %v, want from %d to %d", l, step[0], before, after, err, step[1], step[2])
			}
		}
		if _, _, err := l.Migrate(t.Context(), 99); err == nil || !strings.Contains(err.Error(), "no version 99") {
			t.Errorf("%s: Migrate to 99: %v", l, err)
		}
		if got := dump(t, l)["events"]; !slices.Equal(got, want) {
			t.Errorf("%s: %d events afterwards, want %d", l, len(got), len(want))
		}
	}
}

// TestOlderReleaseUsesANewerSchema opens databases that a newer release has migrated: with additions, and with a change
// that this one cannot know.
func TestOlderReleaseUsesANewerSchema(t *testing.T) {
	for _, l := range []Location{{Path: filepath.Join(t.TempDir(), "orders.db")}, {Postgres: newDatabase(t)}} {
		newer := openAt(t, l)
		newest, err := versionOf(t.Context(), newer.writer)
		if err != nil {
			t.Fatal(err)
		}
		migrateFurther := func(version int64, statement string) {
			t.Helper()
			for _, each := range []string{
				fmt.Sprintf(`INSERT INTO %s (version_id, is_applied) VALUES (%d, true)`, goose.DefaultTablename, version), statement,
			} {
				if _, err := newer.writer.ExecContext(t.Context(), each); err != nil {
					t.Fatal(err)
				}
			}
		}
		migrateFurther(newest+1, `ALTER TABLE checkpoints ADD COLUMN colour TEXT NOT NULL DEFAULT ''`)
		fill(t, l, openAt(t, l))
		migrateFurther(newest+2, fmt.Sprintf(`UPDATE compatibility SET oldest = %d`, newest+2))
		_, err = openLocation(t.Context(), l)
		refusal, remedy := fmt.Sprintf("version %d, which this build cannot use", newest+2), fmt.Sprintf("migrate --to %d", newest)
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
