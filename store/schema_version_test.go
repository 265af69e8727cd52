package store

import (
	"path/filepath"
	"testing"
)

func TestSchemaTellsWhichProgramsCanOpenADatabase(t *testing.T) {
	at := Location{Path: filepath.Join(t.TempDir(), "orders.db")}
	if _, err := at.Schema(t.Context()); err == nil {
		t.Error("a file that is not there has a schema")
	}
	db, err := OpenSQLite(t.Context(), at.Path)
	if err != nil {
		t.Fatal(err)
	}
	now, err := at.Schema(t.Context())
	if err != nil || !now.IsUsable() || now.Version != now.Known || now.Oldest != 1 {
		t.Errorf("a new file: %+v, %v; want the newest version, for programs since 1", now, err)
	}
	for _, statement := range []string{
		`INSERT INTO goose_db_version (version_id, is_applied) VALUES (9000, true)`, `UPDATE compatibility SET oldest = 8999`,
	} {
		if _, err := db.writer.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	next, err := at.Schema(t.Context())
	if want := (Schema{Version: 9000, Oldest: 8999, Known: now.Known}); err != nil || next != want || next.IsUsable() {
		t.Errorf("a newer file: %+v, %v; want %+v, not usable", next, err, want)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}
