package ledger

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/list"
	"crossgate/store"
)

// Tx is a transaction that adds events to a ledger and removes them. After its steps, the orders that these events are
// about are folded and listed again.
type Tx struct {
	*store.Tx
	keep           time.Duration // Ledger.Keep
	removed, added []order.Event
	final          []order.Event // removed events that the log already had as final
	settled        ChainBlock    // newest block, by number, that no reorg can drop; zero: unknown
	isNews         bool          // not history: the log gets events of any age
}

// ErrMoved says that another process moved a chain's checkpoint meanwhile: the blocks just read are useless.
var ErrMoved = errors.New("another process follows the chain")

// Write runs the steps of a transaction, returns the resulting changes and notifies other replicas of them.
func (l Ledger) Write(ctx context.Context, under store.Lease, steps func(*Tx) error) (changes []order.Change, err error) {
	err = l.UpdateUnder(ctx, under, func(tx *store.Tx) error {
		written := &Tx{Tx: tx, keep: l.Keep}
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

// Add adds events that are not stored yet.
func (tx *Tx) Add(events ...order.Event) { tx.added = append(tx.added, events...) }

// remove deletes the events and swaps that match a condition, and notes which of them the log has as final.
func (tx *Tx) remove(ctx context.Context, where string, args ...any) error {
	before := len(tx.removed)
	err := tx.ForEachRow(ctx, func(rows *sql.Rows) error {
		var e order.Event
		var open int
		err := scanEvent(rows, &e, &open)
		if tx.removed = append(tx.removed, e); open == 0 {
			tx.final = append(tx.final, e)
		}
		return err
	}, `SELECT `+eventColumns+`, open`+fromEvents+` WHERE `+where, args...)
	if err == nil && len(tx.removed) > before {
		_, err = tx.ExecContext(ctx, `DELETE FROM events WHERE `+where, args...)
	}
	if err != nil {
		return err
	}
	swaps, err := eventsOfSwaps(ctx, tx, `DELETE FROM swaps WHERE `+where+` RETURNING `+swapColumns, args...)
	tx.removed = append(tx.removed, swaps...)
	return err
}

// Fold stores the added events, and rewrites the orders that gained or lost events. An order left without terms keeps
// its number and ID. Write calls Fold last.
func (tx *Tx) Fold(ctx context.Context) ([]order.Change, error) {
	added, swaps := Parted(tx.added)
	removed, removedSwaps := Parted(tx.removed)
	orders := make(map[order.ID]*order.Order, len(added))
	var ids []order.ID // in order of appearance, so that numbers follow each other in indexes as the events do
	for _, e := range slices.Concat(removed, added) {
		if _, isKnown := orders[e.Order]; !isKnown {
			orders[e.Order], ids = nil, append(ids, e.Order)
		}
	}
	known, err := EventsOfAll(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	stored, err := storedOrders(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	numbers, err := tx.AddressNumbers(ctx, numbered(added)...)
	if err != nil {
		return nil, err
	}
	log := newEntries(tx, known, removed, added)
	events := make([][]any, len(added))
	for i, e := range added {
		known[e.Order] = append(known[e.Order], e)
		o := stored[e.Order]
		if of := termsIn(e.Fact); of != nil && len(o.terms) == 0 {
			o.terms = encodeTerms(*of)
		}
		party := partyIn(e.Fact)
		events[i] = append(eventRow(e, initiatorOf(e, numbers), o.number, o.terms, party.Bytes()), numbers[party], log.openness(e))
	}
	isValued, wrong := valued(added, removed, stored)
	var change orderChange
	for _, id := range ids {
		if o, hasTerms := order.Fold(known[id]); hasTerms {
			orders[id] = o
		}
		change.replace(id, stored[id], orders[id], isValued[id])
	}
	err = tx.ExecAll(ctx,
		store.Step{Statement: insertSwap, Rows: store.Arguments(swaps, swapRow)},
		store.Step{Statement: insertEvent, Rows: events},
		store.Step{Statement: upsertOrder, Rows: change.written},
		store.Step{Statement: insertUncounted, Rows: change.uncounted},
		store.Step{Statement: upsertUncompared, Rows: change.uncompared},
		store.Step{Statement: deleteLock, Rows: change.unlocked},
		store.Step{Statement: insertLock, Rows: change.locked},
		store.Step{Statement: forgetValues, Rows: wrong},
	)
	if err != nil {
		return nil, err
	}
	if err := log.write(ctx); err != nil {
		return nil, err
	}
	err = relist(ctx, tx.Tx, orders, swaps, removedSwaps)
	return changesOf(orders, slices.Concat(tx.removed, tx.added)), err
}

// numbered returns the addresses in events that are stored as numbers.
func numbered(events []order.Event) []chain.Address {
	all := make([]chain.Address, 0, 2*len(events))
	for _, e := range events {
		if all = append(all, partyIn(e.Fact)); initiatorOf(e, nil) == 0 {
			all = append(all, e.At.Initiator)
		}
	}
	return all
}

// orderChange collects changes to orders and to the tables of their numbers, as arguments of statements.
type orderChange struct{ written, uncounted, uncompared, unlocked, locked [][]any }

// replace adds the changes from an order's stored rows to its current ones; o is nil if its terms are not known. Any
// change of an unfulfilled order may affect the statistics.
func (c *orderChange) replace(id order.ID, was *storedOrder, o *order.Order, isValued bool) {
	var of order.Terms
	terms := []byte{}
	if o != nil {
		if len(was.terms) == 0 {
			was.terms = encodeTerms(o.Terms)
		}
		of, terms = o.Terms, was.terms
	}
	if !was.isKnown || was.hasTerms != (o != nil) {
		c.written = append(c.written, []any{was.number, id[:], int64(of.Give.Chain), int64(of.Take.Chain), terms})
	}
	if o == nil || isValued || o.Fulfilled == nil {
		c.uncounted = append(c.uncounted, []any{was.number})
	}
	if o != nil && was.compared > 0 {
		c.uncompared = append(c.uncompared, []any{was.number})
	}
	is := lockOf(o)
	if is == was.lock {
		return
	}
	if was.lock != (lock{}) {
		c.unlocked = append(c.unlocked, []any{was.number})
	}
	if is != (lock{}) {
		c.locked = append(c.locked, is.row(o, was.number))
	}
}

// relist rewrites the listed rows of orders and swaps; an order is nil if its terms are not known.
func relist(ctx context.Context, tx *store.Tx, orders map[order.ID]*order.Order, swaps, withdrawn []order.Swap) error {
	rows := make(map[order.ID]*list.Row, len(orders)+len(swaps))
	for id, o := range orders {
		if rows[id] = nil; o != nil && o.Created != nil {
			rows[id] = list.OfOrder(o)
		}
	}
	for _, s := range withdrawn {
		rows[s.ID] = nil
	}
	for _, s := range swaps {
		rows[s.ID] = list.OfSwap(s)
	}
	return list.Replace(ctx, tx, rows)
}

// changesOf returns the orders with the creations and takers that answers about them may depend on: the current ones
// and those in added or removed events, sorted by ID. An order has several changes if its events differ in these.
func changesOf(folded map[order.ID]*order.Order, events []order.Event) (all []order.Change) {
	changes := make(map[order.ID]order.Change, len(folded))
	name := func(id order.ID, creation chain.TxHash, taker chain.Address) {
		was := changes[id]
		is := order.Change{Order: id, Creation: cmp.Or(creation, was.Creation), Taker: cmp.Or(taker, was.Taker)}
		if !was.Creation.IsAbsent() && is.Creation != was.Creation || !was.Taker.IsAbsent() && is.Taker != was.Taker {
			all = append(all, was)
		}
		changes[id] = is
	}
	for _, e := range events {
		switch fact := e.Fact.(type) {
		case order.Created, order.Swapped:
			name(e.Order, e.At.Tx, chain.Address{})
		case order.Fulfilled:
			name(e.Order, chain.TxHash{}, fact.UnlockAuthority)
		}
	}
	for id, o := range folded {
		if name(id, chain.TxHash{}, chain.Address{}); o != nil && o.Created != nil {
			name(id, o.Created.At.Tx, chain.Address{})
		}
		if o != nil && o.Fulfilled != nil {
			name(id, chain.TxHash{}, o.Fulfilled.Fact.UnlockAuthority)
		}
	}
	all = slices.AppendSeq(all, maps.Values(changes))
	slices.SortStableFunc(all, func(a, b order.Change) int { return a.Order.Compare(b.Order) })
	return all
}

// Channel carries the changes that replicas notify each other of, as JSON; null means any. To stay below PostgreSQL's
// limit, a notification has at most changesEach of them; more than changesNamed become one null.
const (
	Channel      = "crossgate_orders"
	changesEach  = 30
	changesNamed = 600
)

// announce notifies the other replicas of changes once the transaction is committed.
func (tx *Tx) announce(ctx context.Context, changes []order.Change) error {
	if len(changes) > changesNamed {
		return tx.Notify(ctx, Channel, "null")
	}
	var payloads []string
	for part := range slices.Chunk(changes, changesEach) {
		text, err := json.Marshal(part)
		if err != nil {
			return err
		}
		payloads = append(payloads, string(text))
	}
	return tx.Notify(ctx, Channel, payloads...)
}

// valued returns the orders with an event that sets an amount, its time or its party. The values of those that lost one
// or got another amount are wrong: the arguments of forgetValues.
func valued(added, removed []order.Event, stored map[order.ID]*storedOrder) (is map[order.ID]bool, wrong [][]any) {
	is = make(map[order.ID]bool, len(added))
	for i, e := range slices.Concat(removed, added) {
		isWrong := i < len(removed)
		switch e.Fact.(type) {
		case order.GiveIncreased, order.TakeDecreased:
			isWrong = true
		case order.Created, order.Fulfilled:
		default:
			continue
		}
		if is[e.Order] = true; isWrong {
			wrong = append(wrong, []any{stored[e.Order].number})
		}
	}
	return is, wrong
}

const (
	upsertOrder = `INSERT INTO orders (number, id, give_chain, take_chain, terms) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (number) DO UPDATE SET give_chain = excluded.give_chain, take_chain = excluded.take_chain, terms = excluded.terms`
	insertUncounted  = `INSERT INTO uncounted (order_number) VALUES ($1) ON CONFLICT (order_number) DO NOTHING`
	upsertUncompared = `INSERT INTO uncompared (order_number, compared) VALUES ($1, 0) ON CONFLICT (order_number) DO UPDATE SET compared = 0`
	deleteLock       = `DELETE FROM locks WHERE order_number = $1`
	insertLock       = `INSERT INTO locks (order_number, locked, give_chain, take_chain, id, unlock_authority, give_token, give_amount)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`
	forgetValues = `UPDATE order_values SET given = NULL, taken = NULL, fee = NULL, affiliate = NULL, margin = NULL WHERE order_number = $1`
)
