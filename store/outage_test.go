package store

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"crossgate/internal/must"
)

// said is a log whose lines can be awaited.
type said chan string

func (s said) Write(line []byte) (int, error) {
	s <- string(line)
	return len(line), nil
}

// TestOpenWaitsForTheServer opens a database before its server is running.
func TestOpenWaitsForTheServer(t *testing.T) {
	address := newDatabase(t)
	server := shared.server // tests of this package do not run in parallel
	must.Do(t, server.Stop())
	log := make(said, 10)
	logger := slog.New(slog.NewTextHandler(log, nil))
	_, err := OpenPostgres(t.Context(), address, PostgresOptions{Wait: 10 * time.Millisecond, Logger: logger})
	if err == nil || !strings.Contains(err.Error(), "no answer within 10ms") {
		t.Errorf("OpenPostgres with little patience: %v, want the limit and its key", err)
	}
	<-log
	resumed := make(chan error, 1)
	go func() {
		<-log
		resumed <- server.Resume()
	}()
	db, err := OpenPostgres(t.Context(), address, PostgresOptions{Wait: time.Minute, Logger: logger})
	must.Do(t, errors.Join(err, <-resumed))
	defer db.Close()
	if len(log) > 0 {
		t.Errorf("the log has another line: %s", <-log)
	}
	// A server that refuses is running: waiting would not help.
	absent := strings.Replace(address, "?", "absent?", 1)
	if _, err := OpenPostgres(t.Context(), absent, PostgresOptions{Wait: time.Hour}); err == nil || !strings.Contains(err.Error(), "absent") {
		t.Errorf("OpenPostgres of an absent database: %v", err)
	}
}

// TestSlowStatementIsNoOutage runs a statement that takes longer than the database's timeout, and another one while the
// server is gone: both were started, and only the second one ends early.
func TestSlowStatementIsNoOutage(t *testing.T) {
	address := newDatabase(t)
	server := shared.server
	db := openReplica(t, address)
	var slept bool
	found, err := db.QueryRow(t.Context(), []any{&slept}, `SELECT pg_sleep(2) IS NOT NULL`)
	if err != nil || !found {
		t.Errorf("a statement of 2 s: %v, %v", found, err)
	}
	err = db.Update(t.Context(), func(tx *Tx) error {
		_, err := tx.ExecContext(t.Context(), `SELECT pg_sleep(2)`)
		return err
	})
	if err != nil {
		t.Errorf("a change of 2 s: %v", err)
	}
	if _, err := db.Within(10*time.Millisecond).QueryRow(t.Context(), []any{&slept}, `SELECT pg_sleep(3600) IS NOT NULL`); !errors.Is(err, ErrUnavailable) {
		t.Errorf("a statement without a result within its limit: %v, want ErrUnavailable", err)
	}
	if err := db.Available(); err != nil {
		t.Errorf("after that: %v, want a database that is there", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	subscription := must.Get(db.Subscribe(ctx, "orders"))(t)
	defer subscription.Close(ctx)
	must.Do(t, server.Suspend())
	var asking sync.WaitGroup
	for name, ask := range map[string]func() error{
		"a row":          func() error { _, err := db.QueryRow(ctx, []any{&slept}, `SELECT true`); return err },
		"a change":       func() error { return db.Update(ctx, func(*Tx) error { return nil }) },
		"a notification": func() error { _, _, err := subscription.Next(ctx); return err },
		"a lease":        func() error { _, _, err := db.Claim(ctx, "job"); return err },
	} {
		asking.Go(func() {
			if err := ask(); !errors.Is(err, ErrUnavailable) {
				t.Errorf("%s of a database that stands still: %v, want ErrUnavailable", name, err)
			}
		})
	}
	asking.Wait()
	if err := db.Available(); !errors.Is(err, ErrUnavailable) {
		t.Errorf("Available = %v", err)
	}
	must.Do(t, server.Continue())
	for db.Available() != nil && ctx.Err() == nil {
		<-time.After(5 * time.Millisecond)
	}
	if found, err := db.QueryRow(ctx, []any{&slept}, `SELECT true`); err != nil || !found {
		t.Errorf("after it went on: %v, %v", found, err)
	}
}

// TestIdleConnectionsAreUsedWithoutARoundTrip: a connection is checked before it is reused, without a call to the
// server.
func TestIdleConnectionsAreUsedWithoutARoundTrip(t *testing.T) {
	address := newDatabase(t)
	server := shared.server
	link := must.Get(server.NewLink())(t)
	t.Cleanup(func() { link.Close() })
	config := must.Get(pgx.ParseConfig(link.To(address)))(t)
	connection := must.Get(pgx.ConnectConfig(t.Context(), config))(t)
	t.Cleanup(func() { connection.Close(context.WithoutCancel(t.Context())) })
	idle := stdlib.ShouldPingParams{Conn: connection, IdleDuration: time.Hour}
	before := link.RoundTrips()
	if isBroken(t.Context(), idle) {
		t.Error("a healthy connection is taken for a broken one")
	}
	if made := link.RoundTrips() - before; made != 0 {
		t.Errorf("%d round trips, want none", made)
	}
	if err := connection.Ping(t.Context()); err != nil {
		t.Errorf("it cannot be used afterwards: %v", err)
	}
	must.Do(t, server.Stop())
	for !isBroken(t.Context(), idle) && t.Context().Err() == nil { // the link closes it with some delay
		runtime.Gosched()
	}
	must.Do(t, server.Resume())
}

// TestALockedFileIsAnOutage lets another connection lock the whole file, as a program with locking_mode=EXCLUSIVE does,
// and then only against writers.
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
	limited, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := db.Update(limited, func(*Tx) error { return nil }); !errors.Is(err, context.DeadlineExceeded) || db.Writable() != nil {
		t.Errorf("a change while another one writes: %v, Writable %v, want that it waits as long as its caller", err, db.Writable())
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
