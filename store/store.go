// Package store is the gateway's database: SQLite in one file by default, PostgreSQL where several replicas share it.
// Both run the same SQL (placeholders $1, ON CONFLICT, RETURNING) on the same schema, which migrations/ builds up.
//
// A DB has two pools of connections. Reads (ForEachRow, QueryRow) go to one and never wait for a writer. Changes
// (Update) are transactions on the other and take turns: SQLite has a single writer, PostgreSQL an advisory lock.
//
// What only one replica may do at a time, following a chain for instance, it does under a Lease: Claim it, Hold it
// while working, and write with UpdateUnder, which fails once another replica has taken the lease over. Replicas notify
// each other of changes with Tx.Notify and Subscribe (LISTEN/NOTIFY). With SQLite one process owns the file: a claim
// always succeeds, and nothing is notified.
//
// A database that does not answer makes every call fail after little more than a second, and then at once, with
// ErrUnavailable (outage.go), until it answers again.
//
// Who keeps something writes its queries: order/ledger those about orders. Token metadata and what endpoints have spent
// of their monthly plans are here (tokens.go, plans.go), since packages token and upstream know no database.
//
// All methods may be called from any goroutine. The drivers and the migration library are imported here alone.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// DB is an open database with an up-to-date schema.
type DB struct {
	name           string // the file, or PostgreSQL
	reader, writer *sql.DB
	replica        *replica // nil with SQLite, which one process owns
	availability   *availability
	limit          time.Duration // of a statement that reads; 0: none
	telemetry      *telemetry
	lastSize       *lastSize
	writes         *writeState
	unobserve      func() error // ends the measurement
}

// measured begins to measure a database, which is whole but for that.
func (db *DB) measured() (*DB, error) {
	db.lastSize = new(lastSize)
	var err error
	if db.unobserve, err = db.observe(); err != nil {
		return nil, errors.Join(fmt.Errorf("measure database %s: %w", db.name, err), db.closeConnections())
	}
	return db, nil
}

// read is the pool of those who read.
func (db *DB) read() observed { return db.observed(db.reader) }

// write is the pool of those who change something.
func (db *DB) write() observed { return db.observed(db.writer) }

func (db *DB) observed(r runner) observed {
	if !db.IsReplicated() {
		r = withoutArrays{r}
	}
	return observed{r, db.telemetry}
}

// Within is the database for those who cannot wait: a statement that reads has its rows within a limit, or fails with
// ErrUnavailable.
func (db *DB) Within(limit time.Duration) *DB {
	bounded := *db
	bounded.limit = limit
	return &bounded
}

// Close closes all connections.
func (db *DB) Close() error { return errors.Join(db.unobserve(), db.closeConnections()) }

func (db *DB) closeConnections() error {
	return errors.Join(db.availability.close(), db.reader.Close(), db.writer.Close())
}

// Probe reports whether the database answers, which it asks unless an outage is under way.
func (db *DB) Probe(ctx context.Context) error {
	select {
	case <-db.availability.check():
		return db.Available()
	case <-ctx.Done():
		return fmt.Errorf("probe database: %w", ctx.Err())
	}
}

// Available returns nil, or ErrUnavailable with the reason while the database is known not to answer. It asks nothing.
func (db *DB) Available() error { return db.availability.err() }

// IsSlow reports whether work of the database has been under way for so long that the database is probed.
func (db *DB) IsSlow() bool { return db.availability.slow.Load() > 0 }

// IsReplicated reports whether other replicas may use the database as well.
func (db *DB) IsReplicated() bool { return db.replica != nil }

// Replica is this process among those that use the database, as the leases name it: its host, its process id and some
// letters that distinguish it from others with the same. Empty with SQLite, which one process owns.
func (db *DB) Replica() string {
	if db.replica == nil {
		return ""
	}
	return db.replica.name
}

// QueryRow scans the one row of a query into dest. It reports false when there is none.
func (db *DB) QueryRow(ctx context.Context, dest []any, query string, args ...any) (found bool, err error) {
	err = db.reading(ctx, func(ctx context.Context) error { return db.read().QueryRowContext(ctx, query, args...).Scan(dest...) })
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, withRemedy(err)
}

// ForEachRow calls scan for every row of a query, until it returns an error.
func (db *DB) ForEachRow(ctx context.Context, scan func(*sql.Rows) error, query string, args ...any) error {
	return withRemedy(db.reading(ctx, func(ctx context.Context) error { return db.read().ForEachRow(ctx, scan, query, args...) }))
}

// reading runs a statement that reads within the limit.
func (db *DB) reading(ctx context.Context, statement func(context.Context) error) error {
	within := ctx
	if db.limit > 0 {
		var cancel context.CancelFunc
		within, cancel = context.WithTimeout(ctx, db.limit)
		defer cancel()
	}
	err := db.availability.do(within, func() error { return statement(within) })
	if err != nil && within.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("%w: a statement had no result within %s", ErrUnavailable, db.limit)
	}
	return err
}

type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func forEachRow(ctx context.Context, q querier, scan func(*sql.Rows) error, query string, args []any) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
