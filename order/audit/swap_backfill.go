package audit

import (
	"context"
	"errors"
	"fmt"

	"crossgate/order"
	"crossgate/order/follow"
	"crossgate/order/ledger"
	"crossgate/store"
)

// A database from before swaps were indexed, or from a time in which they were left out, has blocks that were read for
// orders alone. A backfill reads these first, for swaps: they are newer than the history that nobody has read.

// unreadEnd returns the block before which a backfill reads: the chain's first one, or the first that was read for
// swaps if that is later.
func (b *backfill) unreadEnd(ctx context.Context, position ledger.Checkpoint) (uint64, error) {
	if b.Ledger.WithoutSwaps || b.Contracts.Router.IsAbsent() {
		return position.First, nil
	}
	from, err := b.Ledger.SwapsFrom(ctx)
	if err != nil {
		return 0, err
	}
	first, known := from[b.ID]
	if !known {
		return position.Block + 1, nil
	}
	return max(first.Number, position.First), nil
}

// readSwaps reads the blocks from a chain's first one to before end for swaps.
func (b *backfill) readSwaps(ctx context.Context, held store.Lease, position ledger.Checkpoint, end uint64) error {
	if end == position.First {
		return nil
	}
	head, err := b.Source.Head(ctx)
	if err != nil {
		return fmt.Errorf("read head: %w", err)
	}
	if err := b.Ledger.BeginSwaps(ctx, held, b.ID, position, head.Finalized); err != nil {
		return err
	}
	return follow.InSequence(ctx, b.ReadAhead, b.newestFirst(position.First, position.First, end), b.readSwapsOf,
		func(got ledger.Contents, err error) error {
			if err != nil {
				b.width.Failed()
				return err
			}
			b.width.Held(len(got.Events))
			if err := b.Ledger.ExtendForSwaps(ctx, held, b.ID, position.Reorgs, got); err != nil {
				return err
			}
			b.stored(got, got.From)
			return nil
		})
}

// readSwapsOf reads the swaps of a range, but for blocks that are quarantined: who reads these reads all of them.
func (b *backfill) readSwapsOf(ctx context.Context, r ledger.Range) (ledger.Contents, error) {
	got := ledger.Contents{Range: r}
	left, err := b.Ledger.Quarantined(ctx, b.ID, r)
	if err != nil {
		return ledger.Contents{}, err
	}
	for _, part := range r.Without(left) {
		read := ledger.Contents{Range: part}
		if read.Events, err = b.events()(ctx, part.From, part.To); err != nil {
			return ledger.Contents{}, fmt.Errorf("read swaps of blocks %d to %d: %w", part.From, part.To, err)
		}
		read.Events, read.Quarantined, err = b.Confirm(ctx, part, read.Events, nil)
		if err == nil && len(read.Quarantined) > 0 {
			err = &order.UnreadableError{Block: read.Quarantined[0].Number, Err: errors.New(read.Quarantined[0].Reason)}
		}
		if err != nil {
			return ledger.Contents{}, fmt.Errorf("read swaps of blocks %d to %d again: %w", part.From, part.To, err)
		}
		_, swaps := ledger.Parted(read.Events)
		for _, s := range swaps {
			got.Events = append(got.Events, s.Event())
		}
	}
	got.End, err = b.firstOf(ctx, r)
	return got, err
}
