package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/store"
)

// A database from before swaps were indexed, or from a time in which they were left out, has blocks that were read for
// orders alone. A backfill reads these first, for swaps: they are newer than the history that nobody has read.

// unreadEnd returns the block before which a backfill reads: the chain's first one, or the first that was read for
// swaps if that is later.
func (b *backfill) unreadEnd(ctx context.Context, position checkpoint) (uint64, error) {
	if b.store.withoutSwaps || b.facts.Contracts.Router.IsAbsent() {
		return position.first, nil
	}
	from, err := b.store.swapsFrom(ctx)
	if err != nil {
		return 0, err
	}
	first, known := from[b.chain]
	if !known {
		return position.block + 1, nil
	}
	return max(first.Number, position.first), nil
}

// readSwaps reads the blocks from a chain's first one to before end for swaps.
func (b *backfill) readSwaps(ctx context.Context, held store.Lease, position checkpoint, end uint64) error {
	if end == position.first {
		return nil
	}
	head, err := b.source.Head(ctx)
	if err != nil {
		return fmt.Errorf("read head: %w", err)
	}
	if err := b.store.beginSwaps(ctx, held, b.chain, position, head.Finalized); err != nil {
		return err
	}
	return inSequence(ctx, b.readAhead, b.newestFirst(position.first, position.first, end), b.readSwapsOf,
		func(got rangeEvents, err error) error {
			if err != nil {
				b.width.failed()
				return err
			}
			b.width.held(len(got.events))
			if err := b.store.extendForSwaps(ctx, held, b.chain, position.reorgs, got); err != nil {
				return err
			}
			b.stored(got, got.from)
			return nil
		})
}

// readSwapsOf reads the swaps of a range, but for blocks that are quarantined: who reads these reads all of them.
func (b *backfill) readSwapsOf(ctx context.Context, r blocks) (rangeEvents, error) {
	got := rangeEvents{blocks: r}
	left, err := b.store.quarantined(ctx, b.chain, r)
	if err != nil {
		return rangeEvents{}, err
	}
	for _, part := range r.without(left) {
		read := rangeEvents{blocks: part}
		if read.events, err = b.events()(ctx, part.from, part.to); err != nil {
			return rangeEvents{}, fmt.Errorf("read swaps of blocks %d to %d: %w", part.from, part.to, err)
		}
		if err = b.prove(ctx, part, &read); err == nil && len(read.quarantined) > 0 {
			err = &order.UnreadableError{Block: read.quarantined[0].Number, Err: errors.New(read.quarantined[0].Reason)}
		}
		if err != nil {
			return rangeEvents{}, fmt.Errorf("read swaps of blocks %d to %d again: %w", part.from, part.to, err)
		}
		_, swaps := parted(read.events)
		for _, s := range swaps {
			got.events = append(got.events, s.Event())
		}
	}
	got.end, err = b.firstOf(ctx, r)
	return got, err
}

// beginSwaps has a chain read for swaps from its checkpoint on, unless it is already. errMoved when the checkpoint is
// elsewhere by now.
func (s orderStore) beginSwaps(ctx context.Context, l store.Lease, id chain.ID, position checkpoint, finalized uint64) error {
	err := s.UpdateUnder(ctx, l, func(tx *store.Tx) error {
		var stands bool
		err := tx.ForEachRow(ctx, func(rows *sql.Rows) error { return rows.Scan(&stands) },
			`SELECT EXISTS (SELECT 1 FROM checkpoints WHERE chain = $1 AND block = $2 AND reorgs = $3)`,
			int64(id), int64(position.block), int64(position.reorgs))
		if err != nil {
			return err
		}
		if !stands {
			return errMoved
		}
		return s.moveSwaps(ctx, tx, advance{
			chain: id, from: position.block + 1, before: position, checkpoint: position, finalized: min(finalized, position.block),
		})
	})
	if err != nil {
		return fmt.Errorf("begin to read chain %d for swaps: %w", id, err)
	}
	return nil
}

// extendForSwaps stores the swaps of a range before the first block that was read for swaps. errMoved when others have
// read it, or when blocks that were not final may have been dropped since so many reorgs.
func (s orderStore) extendForSwaps(ctx context.Context, l store.Lease, id chain.ID, reorgs uint64, got rangeEvents) error {
	_, swaps := parted(got.events)
	err := s.UpdateUnder(ctx, l, func(tx *store.Tx) error {
		moved, err := tx.ExecContext(ctx, `UPDATE swap_checkpoints SET first_block = $1, first_time = $2
			WHERE chain = $3 AND first_block = $4 AND (reorgs = $5 OR final_block >= $4 - 1)`,
			int64(got.from), int64(got.end.Time), int64(id), int64(got.to+1), int64(reorgs))
		if err := changedOne(moved, err); err != nil {
			return err
		}
		known, err := querySwaps(ctx, tx, `DELETE FROM swaps WHERE chain = $1 AND block BETWEEN $2 AND $3 RETURNING `+swapColumns,
			int64(id), int64(got.from), int64(got.to))
		if err != nil {
			return err
		}
		if err := addSwaps(ctx, tx, swaps); err != nil {
			return err
		}
		return relist(ctx, tx, nil, swaps, known)
	})
	if err != nil {
		return fmt.Errorf("store swaps of blocks %d to %d of chain %d: %w", got.from, got.to, id, err)
	}
	return nil
}
