package store

import (
	"database/sql"
	"errors"
	"testing"
	"time"

	"crossgate/internal/must"
)

// TestALockedFileIsAnOutage has another connection keep the whole file, as a program with locking_mode=EXCLUSIVE does,
// and then only those away that write.
func TestALockedFileIsAnOutage(t *testing.T) {
	path := t.TempDir() + "/orders.db"
	db := openStoreAt(t, path)
	other := must.Get(openFile(path, 1, fileOptions(busyLimit)))(t)
	t.Cleanup(func() { other.Close() })
	read := func() error {
		var one int
		_, err := db.QueryRow(t.Context(), []any{&one}, `SELECT 1 FROM events WHERE chain = 7`)
		return err
	}
	must.Do(t, read())
	hold := func(statements ...string) *sql.Conn {
		conn := must.Get(other.Conn(t.Context()))(t)
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
	must.Get(writer.ExecContext(t.Context(), `ROLLBACK`))(t)
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
		must.Get(owner.ExecContext(t.Context(), statement))(t)
	}
	_ = owner.Close()
	other.Close()
	for db.Available() != nil && t.Context().Err() == nil {
		<-time.After(5 * time.Millisecond)
	}
	if err := read(); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	must.Get(db.writer.ExecContext(t.Context(), `DROP TABLE orders`))(t)
	if err := db.Probe(t.Context()); err == nil {
		t.Error("Probe of a file without the table of orders: nil, want an error")
	}
}
