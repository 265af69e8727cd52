package index

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"crossgate/chain"
	"crossgate/store"
)

// orderStore is what the database holds of orders: events, their fold, and how far each chain has been read.
type orderStore struct {
	*store.DB
	withoutSwaps bool // that happen within a chain: none are read
}

// checkpoint is how far one chain has been followed: its events from first to block are stored.
type checkpoint struct {
	first, firstTime uint64
	block, blockTime uint64
	reorgs           uint64 // times that events were withdrawn
	// Blocks from provenFrom to before provenEnd were read a second time, or prove themselves what they hold.
	provenFrom, provenEnd uint64
	wasLevel              uint64 // 1 since everything that the chain had was stored once
}

// checkpoint returns how far a chain has been followed; known is false when it never was.
func (s orderStore) checkpoint(ctx context.Context, id chain.ID) (c checkpoint, known bool, err error) {
	known, err = s.QueryRow(ctx,
		[]any{&c.first, &c.firstTime, &c.block, &c.blockTime, &c.reorgs, &c.provenFrom, &c.provenEnd, &c.wasLevel},
		`SELECT first_block, first_time, block, block_time, reorgs, proven_from, proven_end, was_level FROM checkpoints WHERE chain = $1`, id)
	if err != nil {
		return checkpoint{}, false, fmt.Errorf("read checkpoint of chain %d: %w", id, err)
	}
	return c, known, nil
}

// level takes note that everything that a chain had is stored.
func (s orderStore) level(ctx context.Context, l store.Lease, id chain.ID) error {
	err := s.UpdateUnder(ctx, l, func(tx *store.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE checkpoints SET was_level = 1 WHERE chain = $1`, int64(id))
		return err
	})
	if err != nil {
		return fmt.Errorf("note that chain %d is level: %w", id, err)
	}
	return nil
}

// keptBlock is a block that was read before it was final.
type keptBlock struct {
	number uint64
	hash   chain.Hash
}

// keptBlock returns the newest block below a number that was not final when it was read.
func (s orderStore) keptBlock(ctx context.Context, id chain.ID, below uint64) (b keptBlock, found bool, err error) {
	found, err = s.QueryRow(ctx, []any{&b.number, store.HashColumn(&b.hash)},
		`SELECT number, hash FROM blocks WHERE chain = $1 AND number < $2 ORDER BY number DESC LIMIT 1`, id, below)
	if err != nil {
		return keptBlock{}, false, fmt.Errorf("read blocks of chain %d: %w", id, err)
	}
	return b, found, nil
}

// chainBlock is a block of a chain.
type chainBlock struct {
	chain chain.ID
	keptBlock
}

// kept returns those of some blocks that are stored, which were not final when they were read. It is one statement for
// so many that it hardly ever takes another.
func (s orderStore) kept(ctx context.Context, blocks []chainBlock) (map[chainBlock]bool, error) {
	const atOnce = 100
	kept := make(map[chainBlock]bool, len(blocks))
	for part := range slices.Chunk(blocks, atOnce) {
		var conditions []string
		var args []any
		for _, b := range part {
			conditions = append(conditions, fmt.Sprintf("chain = $%d AND number = $%d", len(args)+1, len(args)+2))
			args = append(args, int64(b.chain), int64(b.number))
		}
		err := s.ForEachRow(ctx, func(rows *sql.Rows) error {
			var b chainBlock
			err := rows.Scan(&b.chain, &b.number, store.HashColumn(&b.hash))
			kept[b] = true
			return err
		}, `SELECT chain, number, hash FROM blocks WHERE `+strings.Join(conditions, " OR "), args...)
		if err != nil {
			return nil, fmt.Errorf("read %d blocks: %w", len(part), err)
		}
	}
	return kept, nil
}
