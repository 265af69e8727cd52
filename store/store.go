// Package store is the gateway's database: SQLite in one file by default, or PostgreSQL shared by several replicas.
// Both run the same SQL (placeholders $1, ON CONFLICT, RETURNING) on the same schema, which migrations/ creates.
//
// A DB has two connection pools. Reads (ForEachRow, QueryRow) use one and never wait for a writer. Changes (Update) are
// transactions on the other and take turns: SQLite has a single writer, PostgreSQL an advisory lock.
//
// Jobs that only one replica at a time may do, such as following a chain, run under a Lease: Claim it, Hold it while
// working, and write with UpdateUnder, which fails once another replica has taken over the lease. Replicas notify each
// other of changes with Tx.Notify and Subscribe (LISTEN/NOTIFY). With SQLite one gateway owns the file (Own): a claim
// always succeeds, and Notify does nothing.
//
// If the database does not answer, calls fail with ErrUnavailable after little more than a second, and immediately from
// then on, until it answers again (outage.go).
//
// Packages write the queries for their own data: order/ledger those about orders. Token metadata and the spending from
// monthly plans are stored here (tokens.go, plans.go), since packages token and upstream do not know the database.
//
// All methods are safe for concurrent use. Only this package imports the drivers and the migration library.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"
)

// DB is an open database with an up-to-date schema.
type DB struct {
	name           string // file path, or "PostgreSQL"
	reader, writer *sql.DB
	replica        *replica // nil with SQLite, which a single gateway owns
	owned          *os.File // locked by Own; nil: nothing is
	availability   *availability
	limit          time.Duration // time limit of statements that read; 0: none
	telemetry      *telemetry
	writes         *writeState
	unobserve      func() error // ends the measurements
}

// measured starts the measurements of an otherwise complete DB.
func (db *DB) measured() (*DB, error) {
	var err error
	if db.unobserve, err = db.observe(); err != nil {
		return nil, errors.Join(fmt.Errorf("measure database %s: %w", db.name, err), db.closeConnections())
	}
	return db, nil
}

// read returns the pool for reading.
func (db *DB) read() observed { return db.observed(db.reader) }

// write returns the pool for writing.
func (db *DB) write() observed { return db.observed(db.writer) }

func (db *DB) observed(r runner) observed {
	if !db.IsReplicated() {
		r = withoutArrays{r}
	}
	return observed{r, db.telemetry}
}

// Within returns the database with a time limit for statements that read: one that has no result in time fails with
// ErrUnavailable.
func (db *DB) Within(limit time.Duration) *DB {
	bounded := *db
	bounded.limit = limit
	return &bounded
}

// Close closes all connections, and lets another gateway own the file.
func (db *DB) Close() error { return errors.Join(db.unobserve(), db.closeConnections()) }

func (db *DB) closeConnections() error {
	defer db.owned.Close() //nolint:errcheck // nothing was written to it; it may be nil
	return errors.Join(db.availability.close(), db.reader.Close(), db.writer.Close())
}

// Probe checks whether the database answers. During an outage it does not ask again.
func (db *DB) Probe(ctx context.Context) error {
	select {
	case <-db.availability.check():
		return db.Available()
	case <-ctx.Done():
		return fmt.Errorf("probe database: %w", ctx.Err())
	}
}

// Available returns ErrUnavailable with the reason while the database is known not to answer. It sends no probe.
func (db *DB) Available() error { return db.availability.err() }

// IsSlow reports whether a call has been running for so long that the database is being probed.
func (db *DB) IsSlow() bool { return db.availability.slow.Load() > 0 }

// IsReplicated reports whether other replicas may use the database too.
func (db *DB) IsReplicated() bool { return db.replica != nil }

// Replica returns this process's name as a holder of leases: its host, process ID and a random suffix that
// distinguishes it from others with the same. It is empty with SQLite.
func (db *DB) Replica() string {
	if db.replica == nil {
		return ""
	}
	return db.replica.name
}

// QueryRow scans the single row of a query into dest. found is false if there is none.
func (db *DB) QueryRow(ctx context.Context, dest []any, query string, args ...any) (found bool, err error) {
	err = db.reading(ctx, func(ctx context.Context) error { return db.read().QueryRow(ctx, dest, query, args...) })
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, withRemedy(err)
}

// ForEachRow calls scan for every row of a query, until it returns an error.
func (db *DB) ForEachRow(ctx context.Context, scan func(*sql.Rows) error, query string, args ...any) error {
	return withRemedy(db.reading(ctx, func(ctx context.Context) error { return db.read().ForEachRow(ctx, scan, query, args...) }))
}

// reading runs a statement that reads, within the limit.
func (db *DB) reading(ctx context.Context, statement func(context.Context) error) error {
	within := ctx
	if db.limit > 0 {
		var cancel context.CancelFunc
		within, cancel = context.WithTimeout(ctx, db.limit)
		defer cancel()
	}
	err := db.availability.do(within, func() error { return statement(within) })
	if err != nil && within.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("%w: no result within %s: %v", ErrUnavailable, db.limit, err)
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
