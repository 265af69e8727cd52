package index

import (
	"context"
	"database/sql"
	"fmt"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/store"
)

// moveSwaps takes note that a range was read for swaps too, after its checkpoint was moved. Where the checkpoint was
// not the one that was read for swaps last, since there were none then or a release without them has moved it, reading
// for swaps begins with the range: what of them may have been dropped meanwhile is withdrawn. Where swaps are left out
// this is such a release.
func (s orderStore) moveSwaps(ctx context.Context, tx *store.Tx, a advance) error {
	if s.withoutSwaps {
		return nil
	}
	next := a.checkpoint
	moved, err := tx.ExecContext(ctx, `UPDATE swap_checkpoints SET block = $1, reorgs = $2,
		final_block = CASE WHEN final_block > $3 THEN final_block ELSE $3 END,
		first_block = CASE WHEN first_block > $4 THEN $4 ELSE first_block END
		WHERE chain = $5 AND block = $6 AND reorgs = $7`,
		int64(next.block), int64(next.reorgs), int64(a.finalized), int64(next.block+1),
		int64(a.chain), int64(a.before.block), int64(a.before.reorgs))
	if err != nil {
		return err
	}
	if rows, err := moved.RowsAffected(); err != nil || rows == 1 && !a.begins {
		return err
	}
	withdrawn, err := querySwaps(ctx, tx, `DELETE FROM swaps WHERE chain = $1
		AND block > COALESCE((SELECT final_block FROM swap_checkpoints WHERE chain = $1), 0) RETURNING `+swapColumns, int64(a.chain))
	if err != nil {
		return err
	}
	if err := relist(ctx, tx, nil, nil, withdrawn); err != nil {
		return err
	}
	since := a.before.blockTime // of the block before the range
	if a.begins {
		since = next.firstTime
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO swap_checkpoints (chain, first_block, first_time, block, reorgs, final_block)
		VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (chain) DO UPDATE SET first_block = excluded.first_block,
		first_time = excluded.first_time, block = excluded.block, reorgs = excluded.reorgs, final_block = excluded.final_block`,
		int64(a.chain), int64(a.from), int64(since), int64(next.block), int64(next.reorgs), int64(a.finalized))
	return err
}

// extendSwaps takes note that blocks before the first one were read for swaps too, if that one was.
func (s orderStore) extendSwaps(ctx context.Context, tx *store.Tx, id chain.ID, first order.Block, before uint64) error {
	if s.withoutSwaps {
		return nil
	}
	_, err := tx.ExecContext(ctx, `UPDATE swap_checkpoints SET first_block = $1, first_time = $2 WHERE chain = $3 AND first_block = $4`,
		int64(first.Number), int64(first.Time), int64(id), int64(before))
	return err
}

// swapsFrom returns from which block on each chain was read for swaps, as far as it was read at all. Of other chains no
// swap is known for sure.
func (s orderStore) swapsFrom(ctx context.Context) (map[chain.ID]BlockTime, error) {
	from := map[chain.ID]BlockTime{}
	err := s.ForEachRow(ctx, func(rows *sql.Rows) error {
		var id chain.ID
		var first BlockTime
		err := rows.Scan(&id, &first.Number, &first.Time)
		from[id] = first
		return err
	}, `SELECT s.chain, s.first_block, s.first_time FROM swap_checkpoints s
		JOIN checkpoints c ON c.chain = s.chain AND c.block = s.block AND c.reorgs = s.reorgs`)
	if err != nil {
		return nil, fmt.Errorf("read from where chains were read for swaps: %w", err)
	}
	return from, nil
}

// firstReading returns what is stored of a range, and the swaps of those parts of it that were never read for swaps: a
// second reading has them, which does not make the first one wrong.
func (j *job) firstReading(ctx context.Context, r blocks, parts []blocks) ([]order.Event, error) {
	stored, err := j.store.eventsBetween(ctx, j.chain, r)
	if err != nil {
		return nil, err
	}
	if j.store.withoutSwaps { // those from before are none of the second reading's business
		stored, _ = parted(stored)
		return stored, nil
	}
	from, err := j.store.swapsFrom(ctx)
	if err != nil {
		return nil, err
	}
	first, known := from[j.chain]
	for _, part := range parts {
		if known && part.from >= first.Number {
			continue
		}
		if known {
			part.to = min(part.to, first.Number-1)
		}
		read, err := j.source.Events(ctx, part.from, part.to)
		if err != nil {
			return nil, fmt.Errorf("read swaps of blocks %d to %d: %w", part.from, part.to, err)
		}
		_, swaps := parted(read)
		for _, s := range swaps {
			stored = withEvent(stored, s.Event())
		}
	}
	return stored, nil
}
