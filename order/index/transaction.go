package index

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// transaction is a change of the store under way.
type transaction struct {
	*sql.Tx
	conn      *sql.Conn
	pipelined bool
}

// turns is the key of the lock under which transactions on PostgreSQL take turns, as they do on SQLite:
// two chains may tell of one order at the same time.
const turns = 0x63726f7373

// change runs steps in one transaction.
func (s *Store) change(ctx context.Context, steps func(tx *transaction) error) error {
	conn, err := s.writer.Conn(ctx)
	if err != nil {
		return explain(err)
	}
	defer conn.Close() //nolint:errcheck // it goes back to the pool
	begun, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return explain(err)
	}
	defer begun.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	tx := &transaction{Tx: begun, conn: conn, pipelined: s.cluster != nil}
	if tx.pipelined {
		if _, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock($1)`, turns); err != nil {
			return err
		}
	}
	if err := steps(tx); err != nil {
		return explain(err)
	}
	return explain(begun.Commit())
}

// execEach runs a statement once per row of arguments: prepared on SQLite, in one round trip on PostgreSQL.
func (tx *transaction) execEach(ctx context.Context, statement string, rows [][]any) error {
	if len(rows) == 0 {
		return nil
	}
	if tx.pipelined {
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

func (tx *transaction) pipeline(ctx context.Context, statement string, rows [][]any) error {
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
