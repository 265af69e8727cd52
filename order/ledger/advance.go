package ledger

import (
	"context"
	"fmt"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/store"
)

// Advance is a range of blocks that was read, or a step back: then its checkpoint is before From.
type Advance struct {
	Chain      chain.ID
	Lease      store.Lease
	From       uint64
	Events     []order.Event
	Blocks     []Block    // blocks of the range that may yet be dropped
	Begins     bool       // no blocks of the chain were read before
	Before     Checkpoint // checkpoint that the range continues
	Checkpoint Checkpoint // checkpoint after the range

	Quarantined []QuarantinedBlock // blocks of the range that were left out
}

// Apply stores the range in one transaction. It replaces everything known about its blocks and later ones, so a range
// may be read any number of times. It returns ErrMoved if the store's checkpoint is not a.Before.
func (l Ledger) Apply(ctx context.Context, a Advance) (changes []order.Change, err error) {
	changes, err = l.Write(ctx, a.Lease, func(tx *Tx) error {
		if err := moveCheckpoint(ctx, tx, a); err != nil {
			return err
		}
		tx.isNews = a.Before.WasLevel > 0
		if err := tx.remove(ctx, `chain = $1 AND block >= $2`, int64(a.Chain), int64(a.From)); err != nil {
			return err
		}
		tables := []string{"blocks", "quarantined_blocks"}
		if a.Checkpoint.Block < a.From { // an anchor may be ahead of the blocks read, but not of a block to go back to
			tables = append(tables, "anchors")
		}
		for _, table := range tables {
			if _, err := tx.ExecContext(ctx, `DELETE FROM `+table+` WHERE chain = $1 AND number >= $2`, int64(a.Chain), int64(a.From)); err != nil {
				return err
			}
		}
		tx.Add(a.Events...)
		tx.settled = ChainBlock{a.Chain, Block{Number: a.Checkpoint.Settled}}
		if err := tx.Quarantine(ctx, a.Chain, a.Quarantined); err != nil {
			return err
		}
		return keepBlocks(ctx, tx, a)
	})
	if err != nil {
		return nil, fmt.Errorf("store blocks %d to %d of chain %d: %w", a.From, a.Checkpoint.Block, a.Chain, err)
	}
	return changes, nil
}

// Extend stores a range of history: blocks before the first one read so far.
func (l Ledger) Extend(ctx context.Context, under store.Lease, id chain.ID, got Contents) error {
	first, before := got.End, got.To+1
	err := l.UpdateUnder(ctx, under, func(tx *store.Tx) error {
		err := tx.Change(ctx, ErrMoved, `UPDATE checkpoints SET first_block = $1, first_time = $2,
			proven_from = CASE WHEN proven_from = first_block AND $5 = 0 THEN $1 ELSE proven_from END
			WHERE chain = $3 AND first_block = $4`, int64(first.Number), int64(first.Time), int64(id), int64(before), store.Bit(got.IsSingle))
		if err != nil {
			return err
		}
		history := &Tx{Tx: tx, keep: l.Keep, added: got.Events}
		if err := history.Quarantine(ctx, id, got.Quarantined); err != nil {
			return err
		}
		if err := history.remove(ctx, `chain = $1 AND block BETWEEN $2 AND $3`, int64(id), int64(got.From), int64(got.To)); err != nil {
			return err
		}
		_, err = history.Fold(ctx) // its changes end no answers: these already rest on earlier blocks
		return err
	})
	if err != nil {
		return fmt.Errorf("store blocks %d to %d of chain %d: %w", first.Number, before-1, id, err)
	}
	return nil
}

// moveCheckpoint stores how far a chain has been read, provided the checkpoint is still where reading began and no
// repair has moved any part of it.
func moveCheckpoint(ctx context.Context, tx *Tx, a Advance) error {
	next := a.Checkpoint
	if a.Begins {
		return tx.Change(ctx, ErrMoved, `INSERT INTO checkpoints
			(chain, first_block, first_time, block, block_time, proven_from, proven_end, settled, was_level)
			VALUES ($1, $2, $3, $4, $5, $2, $2, $6, 0) ON CONFLICT (chain) DO NOTHING`,
			int64(a.Chain), int64(next.First), int64(next.FirstTime), int64(next.Block), int64(next.BlockTime), int64(next.Settled))
	}
	return tx.Change(ctx, ErrMoved, `UPDATE checkpoints SET block = $1, block_time = $2, reorgs = $3, proven_end = $4, settled = $9
		WHERE chain = $5 AND block = $6 AND reorgs = $7 AND proven_end = $8`,
		int64(next.Block), int64(next.BlockTime), int64(next.Reorgs), int64(min(next.ProvenEnd, next.Block+1)),
		int64(a.Chain), int64(a.Before.Block), int64(a.Before.Reorgs), int64(a.Before.ProvenEnd), int64(next.Settled))
}

// keepBlocks remembers the range's blocks and forgets settled ones except the newest: however deep a reorg of the
// others is, there is a block to return to.
func keepBlocks(ctx context.Context, tx *Tx, a Advance) error {
	rows := store.Arguments(a.Blocks, func(b Block) []any { return []any{int64(a.Chain), int64(b.Number), b.Hash[:]} })
	err := tx.ExecEach(ctx, `INSERT INTO blocks (chain, number, hash) VALUES ($1, $2, $3)
		ON CONFLICT (chain, number) DO UPDATE SET hash = excluded.hash`, rows)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM blocks WHERE chain = $1 AND number <
		(SELECT MAX(number) FROM blocks WHERE chain = $1 AND number <= $2)`, int64(a.Chain), int64(a.Checkpoint.Settled))
	return err
}
