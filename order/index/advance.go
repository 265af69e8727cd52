package index

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

// advance is what a follower learned from one range of blocks.
type advance struct {
	chain      chain.ID
	lease      store.Lease
	from       uint64
	events     []order.Event
	blocks     []keptBlock // of the range, those that may be dropped
	finalized  uint64
	settled    uint64     // see settledAt
	begins     bool       // nothing of the chain was read before
	before     checkpoint // that the range continues
	checkpoint checkpoint // with the range read

	quarantined []QuarantinedBlock // of the range, those that were left out
}

// errMoved says that somebody else has moved a chain's checkpoint meanwhile: what was read is of no use.
var errMoved = errors.New("another process follows the chain")

// apply stores the range in one transaction: whatever was known of its blocks and of later ones is
// replaced, so a range may be read any number of times. errMoved when the store is not where the range begins.
func (s orderStore) apply(ctx context.Context, a advance) (changes []Change, err error) {
	err = s.UpdateUnder(ctx, a.lease, func(tx *store.Tx) error {
		if err := moveCheckpoint(ctx, tx, a); err != nil {
			return err
		}
		if err := s.moveSwaps(ctx, tx, a); err != nil {
			return err
		}
		withdrawn, err := withdraw(ctx, tx, a.chain, a.from)
		if err != nil {
			return err
		}
		if err := quarantineBlocks(ctx, tx, a.chain, a.quarantined); err != nil {
			return err
		}
		if err := keepBlocks(ctx, tx, a); err != nil {
			return err
		}
		folded, err := addEvents(ctx, tx, a.events, withdrawn)
		if err != nil {
			return err
		}
		changes = changesOf(folded, slices.Concat(withdrawn, a.events))
		return s.announce(ctx, tx, changes)
	})
	if err != nil {
		return nil, fmt.Errorf("store blocks %d to %d of chain %d: %w", a.from, a.checkpoint.block, a.chain, err)
	}
	return changes, nil
}

// rewind withdraws what blocks after the checkpoint said: they were dropped from the chain.
func (s orderStore) rewind(ctx context.Context, l store.Lease, id chain.ID, from, to checkpoint) (changes []Change, err error) {
	err = s.UpdateUnder(ctx, l, func(tx *store.Tx) error {
		back := advance{chain: id, from: to.block + 1, before: from, checkpoint: to}
		if err := moveCheckpoint(ctx, tx, back); err != nil {
			return err
		}
		if err := s.moveSwaps(ctx, tx, back); err != nil {
			return err
		}
		withdrawn, err := withdraw(ctx, tx, id, to.block+1)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM anchors WHERE chain = $1 AND number > $2`, int64(id), int64(to.block)); err != nil {
			return err
		}
		folded, err := addEvents(ctx, tx, nil, withdrawn)
		if err != nil {
			return err
		}
		changes = changesOf(folded, withdrawn)
		return s.announce(ctx, tx, changes)
	})
	if err != nil {
		return nil, fmt.Errorf("withdraw blocks after %d of chain %d: %w", to.block, id, err)
	}
	return changes, nil
}

// extend stores a range of blocks before the first one that was read: history. It takes the place of what was imported.
func (s orderStore) extend(ctx context.Context, l store.Lease, id chain.ID, got rangeEvents) error {
	first, before := got.end, got.to+1
	err := s.UpdateUnder(ctx, l, func(tx *store.Tx) error {
		moved, err := tx.ExecContext(ctx, `UPDATE checkpoints SET first_block = $1, first_time = $2,
			proven_from = CASE WHEN proven_from = first_block THEN $1 ELSE proven_from END
			WHERE chain = $3 AND first_block = $4`, int64(first.Number), int64(first.Time), int64(id), int64(before))
		if err := changedOne(moved, err); err != nil {
			return err
		}
		if err := s.extendSwaps(ctx, tx, id, first, before); err != nil {
			return err
		}
		if err := quarantineBlocks(ctx, tx, id, got.quarantined); err != nil {
			return err
		}
		imported, err := queryEvents(ctx, tx, `DELETE FROM events WHERE chain = $1 AND block BETWEEN $2 AND $3 RETURNING `+eventColumns,
			int64(id), int64(got.from), int64(got.to))
		if err != nil {
			return err
		}
		_, err = addEvents(ctx, tx, got.events, imported)
		return err
	})
	if err != nil {
		return fmt.Errorf("store blocks %d to %d of chain %d: %w", first.Number, before-1, id, err)
	}
	return nil
}

// moveCheckpoint writes how far a chain has been read, if it still is where the reading began and no repair has moved
// anything of it.
func moveCheckpoint(ctx context.Context, tx *store.Tx, a advance) error {
	next := a.checkpoint
	if a.begins {
		begun, err := tx.ExecContext(ctx, `INSERT INTO checkpoints
			(chain, first_block, first_time, block, block_time, proven_from, proven_end, was_level)
			VALUES ($1, $2, $3, $4, $5, $2, $2, 0) ON CONFLICT (chain) DO NOTHING`,
			int64(a.chain), int64(next.first), int64(next.firstTime), int64(next.block), int64(next.blockTime))
		return changedOne(begun, err)
	}
	moved, err := tx.ExecContext(ctx, `UPDATE checkpoints SET block = $1, block_time = $2, reorgs = $3, proven_end = $4
		WHERE chain = $5 AND block = $6 AND reorgs = $7 AND proven_end = $8`,
		int64(next.block), int64(next.blockTime), int64(next.reorgs), int64(min(next.provenEnd, next.block+1)),
		int64(a.chain), int64(a.before.block), int64(a.before.reorgs), int64(a.before.provenEnd))
	return changedOne(moved, err)
}

// changedOne returns errMoved when a statement found nothing to change.
func changedOne(result interface{ RowsAffected() (int64, error) }, err error) error {
	if err != nil {
		return err
	}
	if rows, err := result.RowsAffected(); err != nil || rows == 1 {
		return err
	}
	return errMoved
}

// withdraw forgets what the blocks from a number on said, and returns it.
func withdraw(ctx context.Context, tx *store.Tx, id chain.ID, from uint64) (withdrawn []order.Event, err error) {
	withdrawn, err = queryEvents(ctx, tx, `DELETE FROM events WHERE chain = $1 AND block >= $2 RETURNING `+eventColumns,
		int64(id), int64(from))
	if err != nil {
		return nil, err
	}
	swaps, err := eventsOfSwaps(ctx, tx, `DELETE FROM swaps WHERE chain = $1 AND block >= $2 RETURNING `+swapColumns,
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
func keepBlocks(ctx context.Context, tx *store.Tx, a advance) error {
	rows := make([][]any, len(a.blocks))
	for i, b := range a.blocks {
		rows[i] = []any{int64(a.chain), int64(b.number), b.hash[:]}
	}
	err := tx.ExecEach(ctx, `INSERT INTO blocks (chain, number, hash) VALUES ($1, $2, $3)
		ON CONFLICT (chain, number) DO UPDATE SET hash = excluded.hash`, rows)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM blocks WHERE chain = $1 AND number <
		(SELECT MAX(number) FROM blocks WHERE chain = $1 AND number <= $2)`, int64(a.chain), int64(a.settled))
	return err
}

// addEvents stores events and writes anew the orders that they are about, and those that lost withdrawn
// events. An order left without terms is forgotten. It returns the orders by id; nil for a
// forgotten one.
func addEvents(ctx context.Context, tx *store.Tx, events, withdrawn []order.Event) (map[order.ID]*order.Order, error) {
	events, swaps := parted(events)
	withdrawn, withdrawnSwaps := parted(withdrawn)
	if err := addSwaps(ctx, tx, swaps); err != nil {
		return nil, err
	}
	changed := make(map[order.ID]*order.Order, len(events))
	for _, e := range withdrawn {
		changed[e.Order] = nil
	}
	rows := make([][]any, len(events))
	for i, e := range events {
		changed[e.Order] = nil
		row, err := eventRow(e)
		if err != nil {
			return nil, err
		}
		rows[i] = row
	}
	ids := slices.SortedFunc(maps.Keys(changed), compareIDs)
	known, err := eventsOfAll(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	for _, e := range events {
		known[e.Order] = append(known[e.Order], e)
	}
	if err := tx.ExecEach(ctx, insertEvent, rows); err != nil {
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
		written = append(written, orderRow(o))
	}
	if err := tx.ExecEach(ctx, `DELETE FROM orders WHERE id = $1`, forgotten); err != nil {
		return nil, err
	}
	if err := tx.ExecEach(ctx, upsertOrder, written); err != nil {
		return nil, err
	}
	if err := relist(ctx, tx, changed, swaps, withdrawnSwaps); err != nil {
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

func compareIDs(a, b order.ID) int { return slices.Compare(a[:], b[:]) }

const upsertOrder = `INSERT INTO orders (id, state, locked, unlock_authority, give_chain, give_token, give_amount, take_chain)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
	ON CONFLICT (id) DO UPDATE SET state = excluded.state, locked = excluded.locked,
		unlock_authority = excluded.unlock_authority, give_chain = excluded.give_chain,
		give_token = excluded.give_token, give_amount = excluded.give_amount, take_chain = excluded.take_chain, compared = 0`

// orderRow is the arguments of upsertOrder.
func orderRow(o *order.Order) []any {
	var authority chain.Address
	if o.Fulfilled != nil {
		authority = o.Fulfilled.Fact.UnlockAuthority
	}
	return []any{
		o.ID[:], int64(o.State), int64(lockStatusOf(o)), store.Blob(authority.Bytes()),
		int64(o.Terms.Give.Chain), store.Blob(o.Terms.Give.Token.Bytes()), o.GiveFinal.String(), int64(o.Terms.Take.Chain),
	}
}
