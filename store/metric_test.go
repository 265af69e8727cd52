package store

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"crossgate/internal/measured"
	"crossgate/internal/must"
)

// TestOutagesAreMeasured stops a server, and reads the metrics before, during and after the outage.
func TestOutagesAreMeasured(t *testing.T) {
	address := newDatabase(t)
	now := measured.Start(t)
	db := openReplica(t, address)
	expect := func(when string, want float64) {
		t.Helper()
		if up, found := now()["crossgate.store.up{}"]; !found || up != want {
			t.Errorf("%s: %v, %v, want %v", when, up, found, want)
		}
	}
	expect("with the server", 1)
	server := shared.server
	must.Do(t, server.Stop())
	if err := db.Probe(t.Context()); !errors.Is(err, ErrUnavailable) {
		t.Errorf("Ping = %v", err)
	}
	expect("without it", 0)
	must.Do(t, server.Resume())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for db.Available() != nil && ctx.Err() == nil {
		<-time.After(5 * time.Millisecond)
	}
	expect("with it again", 1)
	must.Do(t, db.Close())
	if _, found := now()["crossgate.store.up{}"]; found {
		t.Error("a closed database is measured")
	}
}

// TestStatementsAreMeasured checks that every kind of statement is counted, failed ones by the database's code, and
// that the state of connections is measured.
func TestStatementsAreMeasured(t *testing.T) {
	for system, open := range map[string]func(*testing.T) *DB{"sqlite": openStore, "postgresql": openPostgres} {
		t.Run(system, func(t *testing.T) {
			now := measured.Start(t)
			db := open(t)
			must.Get(db.ClaimPlans(t.Context(), []PlanClaim{{Service: "1", Endpoint: "one", Claim: time.Second}}))(t)
			failure := db.ForEachRow(t.Context(), nil, `SELECT one FROM nowhere`)
			if failure == nil {
				t.Fatal("a table that is not there was read")
			}
			got := now()
			of := "db.system.name=" + system + ","
			for _, want := range []string{
				"db.client.operation.duration{db.operation.name=INSERT," + of + "}",
				"db.client.operation.duration{db.operation.name=BEGIN," + of + "}",
				"db.client.operation.duration{db.operation.name=COMMIT," + of + "}",
				"db.client.operation.duration{db.operation.name=SELECT," + of + "error.type=" + codeOf(failure) + ",}",
				"crossgate.store.up{}",
				"crossgate.store.connections{crossgate.store.connection.state=idle,crossgate.store.pool=write,}",
				"crossgate.store.connections.max{crossgate.store.pool=read,}",
			} {
				if got[want] <= 0 {
					t.Errorf("%s = %v, want more than 0, of %v", want, got[want], got)
				}
			}
			if n := got["crossgate.store.connection.waits{crossgate.store.pool=write,}"]; n != 0 {
				t.Errorf("connections were waited for %v times, want never", n)
			}
		})
	}
}

// TestWaitingForAConnectionIsMeasured lets a second write wait for the one in progress.
func TestWaitingForAConnectionIsMeasured(t *testing.T) {
	now := measured.Start(t)
	db, second := openStore(t), make(chan error, 1)
	err := db.Update(t.Context(), func(*Tx) error {
		go func() { second <- db.Update(t.Context(), func(*Tx) error { return nil }) }()
		for db.writer.Stats().WaitCount == 0 {
			runtime.Gosched()
		}
		return nil
	})
	must.Do(t, errors.Join(err, <-second))
	got := now()
	if n := got["crossgate.store.connection.waits{crossgate.store.pool=write,}"]; n != 1 {
		t.Errorf("a connection was waited for %v times, want once", n)
	}
	if n := got["crossgate.store.connection.wait{crossgate.store.pool=write,}"]; n <= 0 {
		t.Errorf("it was waited for %v s", n)
	}
}
