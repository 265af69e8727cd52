package ledger

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
func (s Ledger) moveSwaps(ctx context.Context, tx *store.Tx, a Advance) error {
	if s.WithoutSwaps {
		return nil
	}
	next := a.Checkpoint
	moved, err := tx.ExecContext(ctx, `UPDATE swap_checkpoints SET block = $1, reorgs = $2,
		final_block = CASE WHEN final_block > $3 THEN final_block ELSE $3 END,
		first_block = CASE WHEN first_block > $4 THEN $4 ELSE first_block END
		WHERE chain = $5 AND block = $6 AND reorgs = $7`,
		int64(next.Block), int64(next.Reorgs), int64(a.Finalized), int64(next.Block+1),
		int64(a.Chain), int64(a.Before.Block), int64(a.Before.Reorgs))
	if err != nil {
		return err
	}
	if rows, err := moved.RowsAffected(); err != nil || rows == 1 && !a.Begins {
		return err
	}
	withdrawn, err := QuerySwaps(ctx, tx, `DELETE FROM swaps WHERE chain = $1
		AND block > COALESCE((SELECT final_block FROM swap_checkpoints WHERE chain = $1), 0) RETURNING `+SwapColumns, int64(a.Chain))
	if err != nil {
		return err
	}
	if err := Relist(ctx, tx, nil, nil, withdrawn); err != nil {
		return err
	}
	since := a.Before.BlockTime // of the block before the range
	if a.Begins {
		since = next.FirstTime
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO swap_checkpoints (chain, first_block, first_time, block, reorgs, final_block)
		VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (chain) DO UPDATE SET first_block = excluded.first_block,
		first_time = excluded.first_time, block = excluded.block, reorgs = excluded.reorgs, final_block = excluded.final_block`,
		int64(a.Chain), int64(a.From), int64(since), int64(next.Block), int64(next.Reorgs), int64(a.Finalized))
	return err
}

// extendSwaps takes note that blocks before the first one were read for swaps too, if that one was.
func (s Ledger) extendSwaps(ctx context.Context, tx *store.Tx, id chain.ID, first order.Block, before uint64) error {
	if s.WithoutSwaps {
		return nil
	}
	_, err := tx.ExecContext(ctx, `UPDATE swap_checkpoints SET first_block = $1, first_time = $2 WHERE chain = $3 AND first_block = $4`,
		int64(first.Number), int64(first.Time), int64(id), int64(before))
	return err
}

// SwapsFrom returns from which block on each chain was read for swaps, as far as it was read at all. Of other chains no
// swap is known for sure.
func (s Ledger) SwapsFrom(ctx context.Context) (map[chain.ID]order.BlockTime, error) {
	from := map[chain.ID]order.BlockTime{}
	err := s.ForEachRow(ctx, func(rows *sql.Rows) error {
		var id chain.ID
		var first order.BlockTime
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

// BeginSwaps has a chain read for swaps from its checkpoint on, unless it is already. errMoved when the checkpoint is
// elsewhere by now.
func (s Ledger) BeginSwaps(ctx context.Context, l store.Lease, id chain.ID, position Checkpoint, finalized uint64) error {
	err := s.UpdateUnder(ctx, l, func(tx *store.Tx) error {
		var stands bool
		err := tx.ForEachRow(ctx, func(rows *sql.Rows) error { return rows.Scan(&stands) },
			`SELECT EXISTS (SELECT 1 FROM checkpoints WHERE chain = $1 AND block = $2 AND reorgs = $3)`,
			int64(id), int64(position.Block), int64(position.Reorgs))
		if err != nil {
			return err
		}
		if !stands {
			return ErrMoved
		}
		return s.moveSwaps(ctx, tx, Advance{
			Chain: id, From: position.Block + 1, Before: position, Checkpoint: position, Finalized: min(finalized, position.Block),
		})
	})
	if err != nil {
		return fmt.Errorf("begin to read chain %d for swaps: %w", id, err)
	}
	return nil
}

// ExtendForSwaps stores the swaps of a range before the first block that was read for swaps. errMoved when others have
// read it, or when blocks that were not final may have been dropped since so many reorgs.
func (s Ledger) ExtendForSwaps(ctx context.Context, l store.Lease, id chain.ID, reorgs uint64, got Contents) error {
	_, swaps := Parted(got.Events)
	err := s.UpdateUnder(ctx, l, func(tx *store.Tx) error {
		moved, err := tx.ExecContext(ctx, `UPDATE swap_checkpoints SET first_block = $1, first_time = $2
			WHERE chain = $3 AND first_block = $4 AND (reorgs = $5 OR final_block >= $4 - 1)`,
			int64(got.From), int64(got.End.Time), int64(id), int64(got.To+1), int64(reorgs))
		if err := ChangedOne(moved, err); err != nil {
			return err
		}
		known, err := QuerySwaps(ctx, tx, `DELETE FROM swaps WHERE chain = $1 AND block BETWEEN $2 AND $3 RETURNING `+SwapColumns,
			int64(id), int64(got.From), int64(got.To))
		if err != nil {
			return err
		}
		if err := AddSwaps(ctx, tx, swaps); err != nil {
			return err
		}
		return Relist(ctx, tx, nil, swaps, known)
	})
	if err != nil {
		return fmt.Errorf("store swaps of blocks %d to %d of chain %d: %w", got.From, got.To, id, err)
	}
	return nil
}
