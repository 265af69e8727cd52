package index

import (
	"context"
	"fmt"

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
}

// checkpoint returns how far a chain has been followed; known is false when it never was.
func (s orderStore) checkpoint(ctx context.Context, id chain.ID) (c checkpoint, known bool, err error) {
	known, err = s.QueryRow(ctx,
		[]any{&c.first, &c.firstTime, &c.block, &c.blockTime, &c.reorgs, &c.provenFrom, &c.provenEnd},
		`SELECT first_block, first_time, block, block_time, reorgs, proven_from, proven_end FROM checkpoints WHERE chain = $1`, id)
	if err != nil {
		return checkpoint{}, false, fmt.Errorf("read checkpoint of chain %d: %w", id, err)
	}
	return c, known, nil
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

// keeps reports whether a block that was not final when it was read is stored.
func (s orderStore) keeps(ctx context.Context, id chain.ID, b keptBlock) (kept bool, err error) {
	_, err = s.QueryRow(ctx, []any{&kept},
		`SELECT EXISTS (SELECT 1 FROM blocks WHERE chain = $1 AND number = $2 AND hash = $3)`, id, b.number, b.hash[:])
	if err != nil {
		return false, fmt.Errorf("read block %d of chain %d: %w", b.number, id, err)
	}
	return kept, nil
}
