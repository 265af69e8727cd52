package store

import (
	"database/sql"
	"errors"
	"testing"
	"time"
)

// TestALockedFileIsAnOutage has another connection keep the whole file, as a program with locking_mode=EXCLUSIVE does,
// and then only those away that write.
func TestALockedFileIsAnOutage(t *testing.T) {
	path := t.TempDir() + "/orders.db"
	db := openStoreAt(t, path)
	other, err := openFile(path, 1, fileOptions(busyLimit))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Close() })
	read := func() error {
		var one int
		_, err := db.QueryRow(t.Context(), []any{&one}, `SELECT 1 FROM events WHERE chain = 7`)
		return err
	}
	if err := read(); err != nil {
		t.Fatal(err)
	}
	hold := func(statements ...string) *sql.Conn {
		conn, err := other.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, statement := range statements {
			if _, err := conn.ExecContext(t.Context(), statement); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
		return conn
	}
	writer := hold(`BEGIN IMMEDIATE`)
	if err := errors.Join(read(), db.Probe(t.Context())); err != nil {
		t.Errorf("while another one writes: %v", err)
	}
	if _, err := writer.ExecContext(t.Context(), `ROLLBACK`); err != nil {
		t.Fatal(err)
	}
	_ = writer.Close()
	db.reader.SetMaxIdleConns(-1)
	db.writer.SetMaxIdleConns(-1)
	db.availability.prober.SetMaxIdleConns(-1)
	owner := hold(`PRAGMA locking_mode = EXCLUSIVE`, `BEGIN EXCLUSIVE`)
	if err := db.Probe(t.Context()); !errors.Is(err, ErrUnavailable) {
		t.Errorf("Probe of a file that another one keeps: %v", err)
	}
	if err := read(); !errors.Is(err, ErrUnavailable) {
		t.Errorf("a row of a file that another one keeps: %v", err)
	}
	for _, statement := range []string{`ROLLBACK`, `PRAGMA locking_mode = NORMAL`, `SELECT COUNT(*) FROM events`} {
		if _, err := owner.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	_ = owner.Close()
	other.Close()
	for db.Available() != nil && t.Context().Err() == nil {
		<-time.After(5 * time.Millisecond)
	}
	if err := read(); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
