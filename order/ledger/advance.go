package ledger

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/store"
)

// Advance is what a follower learned from one range of blocks.
type Advance struct {
	Chain      chain.ID
	Lease      store.Lease
	From       uint64
	Events     []order.Event
	Blocks     []Block // of the range, those that may be dropped
	Finalized  uint64
	Settled    uint64     // see settledAt
	Begins     bool       // nothing of the chain was read before
	Before     Checkpoint // that the range continues
	Checkpoint Checkpoint // with the range read

	Quarantined []QuarantinedBlock // of the range, those that were left out
}

// ErrMoved says that somebody else has moved a chain's checkpoint meanwhile: what was read is of no use.
var ErrMoved = errors.New("another process follows the chain")

// Apply stores the range in one transaction: whatever was known of its blocks and of later ones is
// replaced, so a range may be read any number of times. errMoved when the store is not where the range begins.
func (s Ledger) Apply(ctx context.Context, a Advance) (changes []order.Change, err error) {
	err = s.UpdateUnder(ctx, a.Lease, func(tx *store.Tx) error {
		if err := moveCheckpoint(ctx, tx, a); err != nil {
			return err
		}
		if err := s.moveSwaps(ctx, tx, a); err != nil {
			return err
		}
		withdrawn, err := withdraw(ctx, tx, a.Chain, a.From)
		if err != nil {
			return err
		}
		if err := QuarantineBlocks(ctx, tx, a.Chain, a.Quarantined); err != nil {
			return err
		}
		if err := keepBlocks(ctx, tx, a); err != nil {
			return err
		}
		folded, err := AddEvents(ctx, tx, a.Events, withdrawn)
		if err != nil {
			return err
		}
		changes = changesOf(folded, slices.Concat(withdrawn, a.Events))
		return s.announce(ctx, tx, changes)
	})
	if err != nil {
		return nil, fmt.Errorf("store blocks %d to %d of chain %d: %w", a.From, a.Checkpoint.Block, a.Chain, err)
	}
	return changes, nil
}

// Rewind withdraws what blocks after the checkpoint said: they were dropped from the chain.
func (s Ledger) Rewind(ctx context.Context, l store.Lease, id chain.ID, from, to Checkpoint) (changes []order.Change, err error) {
	err = s.UpdateUnder(ctx, l, func(tx *store.Tx) error {
		back := Advance{Chain: id, From: to.Block + 1, Before: from, Checkpoint: to}
		if err := moveCheckpoint(ctx, tx, back); err != nil {
			return err
		}
		if err := s.moveSwaps(ctx, tx, back); err != nil {
			return err
		}
		withdrawn, err := withdraw(ctx, tx, id, to.Block+1)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM anchors WHERE chain = $1 AND number > $2`, int64(id), int64(to.Block)); err != nil {
			return err
		}
		folded, err := AddEvents(ctx, tx, nil, withdrawn)
		if err != nil {
			return err
		}
		changes = changesOf(folded, withdrawn)
		return s.announce(ctx, tx, changes)
	})
	if err != nil {
		return nil, fmt.Errorf("withdraw blocks after %d of chain %d: %w", to.Block, id, err)
	}
	return changes, nil
}

// Extend stores a range of blocks before the first one that was read: history. It takes the place of what was imported.
func (s Ledger) Extend(ctx context.Context, l store.Lease, id chain.ID, got Contents) error {
	first, before := got.End, got.To+1
	err := s.UpdateUnder(ctx, l, func(tx *store.Tx) error {
		moved, err := tx.ExecContext(ctx, `UPDATE checkpoints SET first_block = $1, first_time = $2,
			proven_from = CASE WHEN proven_from = first_block THEN $1 ELSE proven_from END
			WHERE chain = $3 AND first_block = $4`, int64(first.Number), int64(first.Time), int64(id), int64(before))
		if err := ChangedOne(moved, err); err != nil {
			return err
		}
		if err := s.extendSwaps(ctx, tx, id, first, before); err != nil {
			return err
		}
		if err := QuarantineBlocks(ctx, tx, id, got.Quarantined); err != nil {
			return err
		}
		imported, err := queryEvents(ctx, tx, `DELETE FROM events WHERE chain = $1 AND block BETWEEN $2 AND $3 RETURNING `+eventColumns,
			int64(id), int64(got.From), int64(got.To))
		if err != nil {
			return err
		}
		_, err = AddEvents(ctx, tx, got.Events, imported)
		return err
	})
	if err != nil {
		return fmt.Errorf("store blocks %d to %d of chain %d: %w", first.Number, before-1, id, err)
	}
	return nil
}

// moveCheckpoint writes how far a chain has been read, if it still is where the reading began and no repair has moved
// anything of it.
func moveCheckpoint(ctx context.Context, tx *store.Tx, a Advance) error {
	next := a.Checkpoint
	if a.Begins {
		begun, err := tx.ExecContext(ctx, `INSERT INTO checkpoints
			(chain, first_block, first_time, block, block_time, proven_from, proven_end, was_level)
			VALUES ($1, $2, $3, $4, $5, $2, $2, 0) ON CONFLICT (chain) DO NOTHING`,
			int64(a.Chain), int64(next.First), int64(next.FirstTime), int64(next.Block), int64(next.BlockTime))
		return ChangedOne(begun, err)
	}
	moved, err := tx.ExecContext(ctx, `UPDATE checkpoints SET block = $1, block_time = $2, reorgs = $3, proven_end = $4
		WHERE chain = $5 AND block = $6 AND reorgs = $7 AND proven_end = $8`,
		int64(next.Block), int64(next.BlockTime), int64(next.Reorgs), int64(min(next.ProvenEnd, next.Block+1)),
		int64(a.Chain), int64(a.Before.Block), int64(a.Before.Reorgs), int64(a.Before.ProvenEnd))
	return ChangedOne(moved, err)
}

// ChangedOne returns errMoved when a statement found nothing to change.
func ChangedOne(result interface{ RowsAffected() (int64, error) }, err error) error {
	if err != nil {
		return err
	}
	if rows, err := result.RowsAffected(); err != nil || rows == 1 {
		return err
	}
	return ErrMoved
}

// withdraw forgets what the blocks from a number on said, and returns it.
func withdraw(ctx context.Context, tx *store.Tx, id chain.ID, from uint64) (withdrawn []order.Event, err error) {
	withdrawn, err = queryEvents(ctx, tx, `DELETE FROM events WHERE chain = $1 AND block >= $2 RETURNING `+eventColumns,
		int64(id), int64(from))
	if err != nil {
		return nil, err
	}
	swaps, err := eventsOfSwaps(ctx, tx, `DELETE FROM swaps WHERE chain = $1 AND block >= $2 RETURNING `+SwapColumns,
		int64(id), int64(from))
	if err != nil {
		return nil, err
	}
	withdrawn = append(withdrawn, swaps...)
	for _, table := range []string{"blocks", "quarantined_blocks"} {
		if _, err := tx.ExecContext(ctx, `DELETE FROM `+table+` WHERE chain = $1 AND number >= $2`, int64(id), int64(from)); err != nil {
			return nil, err
		}
	}
	return withdrawn, nil
}

// keepBlocks remembers the range's blocks and forgets those that are settled, but for the newest of them: however deep
// a reorg of others is, there is a block to go back to.
func keepBlocks(ctx context.Context, tx *store.Tx, a Advance) error {
	rows := make([][]any, len(a.Blocks))
	for i, b := range a.Blocks {
		rows[i] = []any{int64(a.Chain), int64(b.Number), b.Hash[:]}
	}
	err := tx.ExecEach(ctx, `INSERT INTO blocks (chain, number, hash) VALUES ($1, $2, $3)
		ON CONFLICT (chain, number) DO UPDATE SET hash = excluded.hash`, rows)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM blocks WHERE chain = $1 AND number <
		(SELECT MAX(number) FROM blocks WHERE chain = $1 AND number <= $2)`, int64(a.Chain), int64(a.Settled))
	return err
}

// AddEvents stores events and writes anew the orders that they are about, and those that lost withdrawn
// events. An order left without terms is forgotten. It returns the orders by id; nil for a
// forgotten one.
func AddEvents(ctx context.Context, tx *store.Tx, events, withdrawn []order.Event) (map[order.ID]*order.Order, error) {
	events, swaps := Parted(events)
	withdrawn, withdrawnSwaps := Parted(withdrawn)
	if err := AddSwaps(ctx, tx, swaps); err != nil {
		return nil, err
	}
	changed := make(map[order.ID]*order.Order, len(events))
	for _, e := range withdrawn {
		changed[e.Order] = nil
	}
	rows := make([][]any, len(events))
	for i, e := range events {
		changed[e.Order] = nil
		row, err := EventRow(e)
		if err != nil {
			return nil, err
		}
		rows[i] = row
	}
	ids := slices.SortedFunc(maps.Keys(changed), CompareIDs)
	known, err := EventsOfAll(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	for _, e := range events {
		known[e.Order] = append(known[e.Order], e)
	}
	if err := tx.ExecEach(ctx, InsertEvent, rows); err != nil {
		return nil, err
	}
	var written, forgotten [][]any
	for _, id := range ids {
		o, hasTerms := order.Fold(known[id])
		if !hasTerms {
			forgotten = append(forgotten, []any{id[:]})
			continue
		}
		changed[id] = o
		written = append(written, OrderRow(o))
	}
	if err := tx.ExecEach(ctx, `DELETE FROM orders WHERE id = $1`, forgotten); err != nil {
		return nil, err
	}
	if err := tx.ExecEach(ctx, UpsertOrder, written); err != nil {
		return nil, err
	}
	if err := Relist(ctx, tx, changed, swaps, withdrawnSwaps); err != nil {
		return nil, err
	}
	return changed, tx.ExecEach(ctx, `INSERT INTO uncounted (order_id) VALUES ($1)`, valued(changed, events, withdrawn))
}

// valued lists the ids of changed orders of which statistics may change: those that still wait for somebody to fulfil
// them or are forgotten, and those of which an amount, or who moved it when, has changed.
func valued(changed map[order.ID]*order.Order, events, withdrawn []order.Event) (ids [][]any) {
	is := make(map[order.ID]bool, len(changed))
	for id, o := range changed {
		is[id] = o == nil || o.Fulfilled == nil
	}
	for _, e := range slices.Concat(events, withdrawn) {
		is[e.Order] = is[e.Order] || isOfValue(e.Fact)
	}
	for id, isValued := range is {
		if isValued {
			ids = append(ids, []any{id[:]})
		}
	}
	return ids
}

// isOfValue reports whether a fact is about amounts, or who moved them when.
func isOfValue(fact order.Fact) bool {
	switch fact.(type) {
	case order.Created, order.Fulfilled, order.GiveIncreased, order.TakeDecreased:
		return true
	}
	return false
}

func CompareIDs(a, b order.ID) int { return slices.Compare(a[:], b[:]) }

const UpsertOrder = `INSERT INTO orders (id, state, locked, unlock_authority, give_chain, give_token, give_amount, take_chain)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
	ON CONFLICT (id) DO UPDATE SET state = excluded.state, locked = excluded.locked,
		unlock_authority = excluded.unlock_authority, give_chain = excluded.give_chain,
		give_token = excluded.give_token, give_amount = excluded.give_amount, take_chain = excluded.take_chain, compared = 0`

// OrderRow is the arguments of upsertOrder.
func OrderRow(o *order.Order) []any {
	var authority chain.Address
	if o.Fulfilled != nil {
		authority = o.Fulfilled.Fact.UnlockAuthority
	}
	return []any{
		o.ID[:], int64(o.State), int64(lockStatusOf(o)), store.Blob(authority.Bytes()),
		int64(o.Terms.Give.Chain), store.Blob(o.Terms.Give.Token.Bytes()), o.GiveFinal.String(), int64(o.Terms.Take.Chain),
	}
}

// Adopt stores the events of an order from before the first blocks that are indexed of its chains, in place of what is
// stored from there. errMoved when another process has read earlier blocks meanwhile.
func (s Ledger) Adopt(ctx context.Context, id order.ID, first map[chain.ID]uint64, events []order.Event) error {
	err := s.Update(ctx, func(tx *store.Tx) error {
		var before []order.Event
		for _, on := range slices.Sorted(maps.Keys(first)) {
			same, err := tx.ExecContext(ctx, `UPDATE checkpoints SET first_block = first_block WHERE chain = $1 AND first_block = $2`,
				int64(on), int64(first[on]))
			if err := ChangedOne(same, err); err != nil {
				return err
			}
			gone, err := queryEvents(ctx, tx, `DELETE FROM events WHERE order_id = $1 AND chain = $2 AND block < $3 RETURNING `+eventColumns,
				id[:], int64(on), int64(first[on]))
			if err != nil {
				return err
			}
			before = append(before, gone...)
		}
		folded, err := AddEvents(ctx, tx, events, before)
		if err != nil {
			return err
		}
		return s.announce(ctx, tx, changesOf(folded, slices.Concat(before, events)))
	})
	if err != nil {
		return fmt.Errorf("store order %s: %w", id, err)
	}
	return nil
}
