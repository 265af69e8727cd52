package ledger

import (
	"context"
	"errors"
	"maps"
	"slices"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/store"
)

// Tx is the transaction by which events come into a ledger and go. When its steps are done, the orders that these events
// are about are folded and listed anew.
type Tx struct {
	*store.Tx
	removed, added []order.Event
}

// ErrMoved says that another process has moved a chain's checkpoint meanwhile: the blocks read are of no use.
var ErrMoved = errors.New("another process follows the chain")

// Write runs the steps of a transaction returns the changes, and notifies other replicas of them.
func (l Ledger) Write(ctx context.Context, under store.Lease, steps func(*Tx) error) (changes []order.Change, err error) {
	err = l.UpdateUnder(ctx, under, func(tx *store.Tx) error {
		written := &Tx{Tx: tx}
		if err := steps(written); err != nil {
			return err
		}
		if changes, err = written.Fold(ctx); err != nil {
			return err
		}
		return written.announce(ctx, changes)
	})
	return changes, err
}

// Add adds events, which are not stored.
func (tx *Tx) Add(events ...order.Event) { tx.added = append(tx.added, events...) }

// remove removes the events and swaps of some blocks.
func (tx *Tx) remove(ctx context.Context, where string, args ...any) error {
	events, err := queryEvents(ctx, tx, `DELETE FROM events WHERE `+where+` RETURNING `+eventColumns, args...)
	if err != nil {
		return err
	}
	swaps, err := eventsOfSwaps(ctx, tx, `DELETE FROM swaps WHERE `+where+` RETURNING `+swapColumns, args...)
	tx.removed = slices.Concat(tx.removed, events, swaps)
	return err
}

// Fold stores what was added, and writes anew the orders that this is about and those that lost events. An order left
// without terms is forgotten. Write ends with it.
func (tx *Tx) Fold(ctx context.Context) ([]order.Change, error) {
	added, swaps := Parted(tx.added)
	removed, removedSwaps := Parted(tx.removed)
	orders := make(map[order.ID]*order.Order, len(added))
	for _, e := range slices.Concat(removed, added) {
		orders[e.Order] = nil
	}
	ids := slices.SortedFunc(maps.Keys(orders), CompareIDs)
	known, err := EventsOfAll(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	events := make([][]any, len(added))
	for i, e := range added {
		known[e.Order] = append(known[e.Order], e)
		if events[i], err = eventRow(e); err != nil {
			return nil, err
		}
	}
	var written, forgotten [][]any
	for _, id := range ids {
		if o, hasTerms := order.Fold(known[id]); hasTerms {
			orders[id] = o
			written = append(written, orderRow(o))
		} else {
			forgotten = append(forgotten, []any{id[:]})
		}
	}
	rows := make([][]any, len(swaps))
	for i, s := range swaps {
		rows[i] = swapRow(s)
	}
	for _, each := range []struct {
		statement string
		rows      [][]any
	}{
		{insertSwap, rows}, {insertEvent, events}, {`DELETE FROM orders WHERE id = $1`, forgotten}, {upsertOrder, written},
		{`INSERT INTO uncounted (order_id) VALUES ($1)`, valued(orders, added, removed)},
	} {
		if err := tx.ExecEach(ctx, each.statement, each.rows); err != nil {
			return nil, err
		}
	}
	err = relist(ctx, tx.Tx, orders, swaps, removedSwaps)
	return changesOf(orders, slices.Concat(tx.removed, tx.added)), err
}

// valued lists the ids of changed orders whose statistics may change: those not fulfilled yet or forgotten, and those
// where an amount, or who moved it when, has changed.
func valued(changed map[order.ID]*order.Order, added, removed []order.Event) (ids [][]any) {
	is := make(map[order.ID]bool, len(changed))
	for id, o := range changed {
		is[id] = o == nil || o.Fulfilled == nil
	}
	for _, e := range slices.Concat(added, removed) {
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
