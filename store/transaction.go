package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"regexp"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// Reader runs queries, inside or outside a transaction.
type Reader interface {
	ForEachRow(ctx context.Context, scan func(*sql.Rows) error, query string, args ...any) error
}

// All returns the rows of a query, each read by scan; none with an error.
func All[T any](ctx context.Context, q Reader, scan func(*sql.Rows, *T) error, query string, args ...any) (all []T, err error) {
	err = q.ForEachRow(ctx, func(rows *sql.Rows) error {
		var one T
		err := scan(rows, &one)
		all = append(all, one)
		return err
	}, query, args...)
	if err != nil {
		return nil, err
	}
	return all, nil
}

var (
	_ Reader = (*DB)(nil)
	_ Reader = (*Tx)(nil)
)

// Tx is a running transaction.
type Tx struct {
	observed
	conn         *sql.Conn
	isReplicated bool
}

// writerLock is the key of the advisory lock that makes transactions on PostgreSQL take turns, as on SQLite: two chains
// may report events of one order at the same time.
const writerLock = 0x63726f7373

// Update runs steps in one transaction, and rolls it back if they return an error.
func (db *DB) Update(ctx context.Context, steps func(*Tx) error) error {
	return db.UpdateUnder(ctx, Lease{}, steps)
}

// UpdateUnder is Update for the holder of a lease. It returns ErrLeaseLost if another replica holds the lease.
func (db *DB) UpdateUnder(ctx context.Context, l Lease, steps func(*Tx) error) error {
	end := db.writes.begin()
	err := withRemedy(db.availability.do(ctx, func() error { return db.update(ctx, l, steps) }))
	end(err)
	return err
}

func (db *DB) update(ctx context.Context, l Lease, steps func(*Tx) error) error {
	conn, err := db.writer.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // returns it to the pool
	end := db.telemetry.begin(ctx, "BEGIN", 1)
	var begun *sql.Tx
	err = untilFree(ctx, func() (err error) {
		begun, err = conn.BeginTx(ctx, nil)
		return err
	})
	if err := end(err); err != nil {
		return err
	}
	defer begun.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	tx := &Tx{db.observed(begun), conn, db.IsReplicated()}
	if err := tx.awaitTurn(ctx); err != nil {
		return err
	}
	if err := l.renew(ctx, tx); err != nil {
		return err
	}
	if err := steps(tx); err != nil {
		return err
	}
	end = db.telemetry.begin(ctx, "COMMIT", 1)
	return end(begun.Commit())
}

// awaitTurn waits until no other transaction on a PostgreSQL writes. A transaction on SQLite begins only then.
func (tx *Tx) awaitTurn(ctx context.Context) error {
	if !tx.isReplicated {
		return nil
	}
	end := tx.telemetry.begin(ctx, "LOCK", 1)
	_, err := tx.runner.ExecContext(ctx, `SELECT pg_advisory_xact_lock($1)`, writerLock)
	return end(err)
}

// Change runs a statement that changes rows. It returns the error none if no row matches.
func (tx *Tx) Change(ctx context.Context, none error, statement string, args ...any) error {
	changed, err := tx.ExecContext(ctx, statement, args...)
	if err != nil {
		return err
	}
	if rows, err := changed.RowsAffected(); err != nil || rows > 0 {
		return err
	}
	return none
}

// ExecEach runs a statement once per row of arguments: prepared on SQLite, pipelined in one round trip on PostgreSQL.
func (tx *Tx) ExecEach(ctx context.Context, statement string, rows [][]any) error {
	if len(rows) == 0 {
		return nil
	}
	end := tx.telemetry.begin(ctx, statement, len(rows))
	run := tx.prepared
	if tx.isReplicated {
		run = tx.pipeline
	}
	return end(run(ctx, statement, rows))
}

// Step is a statement that is run once per row of arguments.
type Step struct {
	Statement string
	Rows      [][]any
}

// Arguments returns a row of arguments for each element of a list.
func Arguments[T any](list []T, of func(T) []any) [][]any {
	rows := make([][]any, len(list))
	for i, each := range list {
		rows[i] = of(each)
	}
	return rows
}

// ExecAll runs steps in order.
func (tx *Tx) ExecAll(ctx context.Context, steps ...Step) error {
	for _, each := range steps {
		if err := tx.ExecEach(ctx, each.Statement, each.Rows); err != nil {
			return err
		}
	}
	return nil
}

// prepared runs the driver's own prepared statement, without the locks that database/sql takes per row.
func (tx *Tx) prepared(ctx context.Context, statement string, rows [][]any) error {
	statement, places := inSequence(statement)
	return tx.conn.Raw(func(connection any) error {
		prepared, err := connection.(driver.ConnPrepareContext).PrepareContext(ctx, statement)
		if err != nil {
			return err
		}
		defer prepared.Close() //nolint:errcheck // it changes nothing
		args := make([]driver.NamedValue, len(places))
		// The driver starts a goroutine for every cancellable call, although a row takes only microseconds.
		each := context.WithoutCancel(ctx)
		for _, row := range rows {
			for i, place := range places {
				if args[i].Value, err = driver.DefaultParameterConverter.ConvertValue(row[place]); err != nil {
					return fmt.Errorf("argument %d of %q: %w", place+1, statement, err)
				}
				args[i].Ordinal = i + 1
			}
			if _, err = prepared.(driver.StmtExecContext).ExecContext(each, args); err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

var numbered = regexp.MustCompile(`\$\d+`)

// inSequence returns a statement with arguments in sequence, the fastest form for SQLite's driver, and their indexes.
func inSequence(statement string) (spelled string, places []int) {
	return numbered.ReplaceAllStringFunc(statement, func(argument string) string {
		number, _ := strconv.Atoi(argument[1:])
		places = append(places, number-1)
		return "?"
	}), places
}

func (tx *Tx) pipeline(ctx context.Context, statement string, rows [][]any) error {
	var batch pgx.Batch
	for _, row := range rows {
		batch.Queue(statement, row...)
	}
	return tx.conn.Raw(func(of any) error {
		connection, ok := of.(*stdlib.Conn)
		if !ok {
			return fmt.Errorf("driver is %T, not pgx", of)
		}
		return connection.Conn().SendBatch(ctx, &batch).Close()
	})
}
