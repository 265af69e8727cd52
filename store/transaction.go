package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// Tx is a transaction under way.
type Tx struct {
	*sql.Tx
	conn         *sql.Conn
	isReplicated bool
}

// writerLock is the key of the advisory lock under which transactions on PostgreSQL take turns, as they do on SQLite:
// two chains may report events of one order at the same time.
const writerLock = 0x63726f7373

// Update runs steps in one transaction, which is rolled back when they return an error.
func (db *DB) Update(ctx context.Context, steps func(*Tx) error) error {
	return db.UpdateUnder(ctx, Lease{}, steps)
}

// UpdateUnder is Update for the holder of a lease: ErrLeaseLost when that is another replica by now.
func (db *DB) UpdateUnder(ctx context.Context, l Lease, steps func(*Tx) error) error {
	return withRemedy(db.availability.do(ctx, func() error { return db.update(ctx, l, steps) }))
}

func (db *DB) update(ctx context.Context, l Lease, steps func(*Tx) error) error {
	conn, err := db.writer.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // it goes back to the pool
	begun, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer begun.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	tx := &Tx{Tx: begun, conn: conn, isReplicated: db.IsReplicated()}
	if tx.isReplicated {
		if _, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock($1)`, writerLock); err != nil {
			return err
		}
	}
	if err := l.renew(ctx, tx); err != nil {
		return err
	}
	if err := steps(tx); err != nil {
		return err
	}
	return begun.Commit()
}

// ForEachRow calls scan for every row of a query, until it returns an error.
func (tx *Tx) ForEachRow(ctx context.Context, scan func(*sql.Rows) error, query string, args ...any) error {
	return forEachRow(ctx, tx, scan, query, args)
}

// ExecEach runs a statement once per row of arguments: prepared on SQLite, in one round trip on PostgreSQL.
func (tx *Tx) ExecEach(ctx context.Context, statement string, rows [][]any) error {
	if len(rows) == 0 {
		return nil
	}
	if tx.isReplicated {
		return tx.pipeline(ctx, statement, rows)
	}
	prepared, err := tx.PrepareContext(ctx, statement)
	if err != nil {
		return err
	}
	defer prepared.Close() //nolint:errcheck // it ends with the transaction
	for _, row := range rows {
		if _, err := prepared.ExecContext(ctx, row...); err != nil {
			return err
		}
	}
	return nil
}

func (tx *Tx) pipeline(ctx context.Context, statement string, rows [][]any) error {
	var batch pgx.Batch
	for _, row := range rows {
		batch.Queue(statement, row...)
	}
	return tx.conn.Raw(func(driver any) error {
		connection, ok := driver.(*stdlib.Conn)
		if !ok {
			return fmt.Errorf("driver is %T, not pgx", driver)
		}
		return connection.Conn().SendBatch(ctx, &batch).Close()
	})
}
