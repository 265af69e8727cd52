package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"crossgate/chain"
)

// Store keeps events in a database: SQLite in one file, or PostgreSQL that several replicas share. Changes
// take turns, reading goes on beside them.
type Store struct {
	name           string // the file, or postgres
	reader, writer *sql.DB
	cluster        *cluster // what replicas need to know of each other; nil where one process owns the store
}

// checkpoint is how far one chain has been followed: its events from first to block are stored.
type checkpoint struct {
	first, firstTime uint64
	block, blockTime uint64
	reorgs           uint64 // times that events were withdrawn
}

// Close ends the use of the database.
func (s *Store) Close() error { return errors.Join(s.reader.Close(), s.writer.Close()) }

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.reader.PingContext(ctx); err != nil {
		return fmt.Errorf("order index: %w", explain(err))
	}
	return nil
}

// checkpoint tells how far a chain has been followed; not known when it never was.
func (s *Store) checkpoint(ctx context.Context, id chain.ID) (c checkpoint, known bool, err error) {
	row := s.reader.QueryRowContext(ctx,
		`SELECT first_block, first_time, block, block_time, reorgs FROM checkpoints WHERE chain = $1`, id)
	err = row.Scan(&c.first, &c.firstTime, &c.block, &c.blockTime, &c.reorgs)
	if errors.Is(err, sql.ErrNoRows) {
		return checkpoint{}, false, nil
	}
	if err != nil {
		return checkpoint{}, false, fmt.Errorf("read checkpoint of chain %d: %w", id, explain(err))
	}
	return c, true, nil
}

// keptBlock is a block that was read before it was final.
type keptBlock struct {
	number uint64
	hash   chain.Hash
}

// keptBlock returns the newest block below a number that could still be dropped when it was read.
func (s *Store) keptBlock(ctx context.Context, id chain.ID, below uint64) (b keptBlock, found bool, err error) {
	row := s.reader.QueryRowContext(ctx,
		`SELECT number, hash FROM blocks WHERE chain = $1 AND number < $2 ORDER BY number DESC LIMIT 1`, id, below)
	err = row.Scan(&b.number, hashColumn{&b.hash})
	if errors.Is(err, sql.ErrNoRows) {
		return keptBlock{}, false, nil
	}
	if err != nil {
		return keptBlock{}, false, fmt.Errorf("read blocks of chain %d: %w", id, explain(err))
	}
	return b, true, nil
}

// keeps reports whether a block that can still be dropped was read.
func (s *Store) keeps(ctx context.Context, id chain.ID, b keptBlock) (kept bool, err error) {
	row := s.reader.QueryRowContext(ctx,
		`SELECT EXISTS (SELECT 1 FROM blocks WHERE chain = $1 AND number = $2 AND hash = $3)`, id, b.number, b.hash[:])
	if err := row.Scan(&kept); err != nil {
		return false, fmt.Errorf("read block %d of chain %d: %w", b.number, id, explain(err))
	}
	return kept, nil
}
