package store

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"crossgate/internal/must"
	"crossgate/internal/postgrestest"
)

// pooled is the address of a new database by way of a PgBouncer.
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

// TestSessionPooling uses a database by way of a PgBouncer that gives each connection one of the server's: what belongs to
// a connection works there, and PgBouncer needs no setting for it.
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
	if payload, err := heard.Next(ctx); payload != "news" || err != nil {
		t.Errorf("Next = %q, %v", payload, err)
	}
	var limit string
	if _, err := one.QueryRow(ctx, []any{&limit}, `SHOW idle_in_transaction_session_timeout`); err != nil || limit != "5s" {
		t.Errorf("idle transactions end after %q, %v, want 5s", limit, err)
	}
}

// TestPoolingByTransactionIsRefused has PgBouncer give the server's connections to whoever has a transaction: notifications
// and locks of a connection would be somebody else's.
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
