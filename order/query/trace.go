package query

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/ledger"
)

// trace searches the chains for a transaction with events of orders. See search for done and the errors.
func (x *Index) trace(ctx context.Context, tx chain.TxHash, storeErr error) (read order.Evidence, done func(), err error) {
	read, done, err = x.search(ctx, tx, x.candidates(tx), func(events []order.Event) bool {
		ofOrders, _ := ledger.Parted(events)
		return len(ofOrders) > 0
	})
	if err == nil && read.Events == nil {
		err = order.ErrNoOrder
	}
	return read, done, withStore(ctx, err, storeErr)
}

// withStore adds to a failed search that the store, which might have had the result, could not be read.
func withStore(ctx context.Context, err, storeErr error) error {
	if err == nil || storeErr == nil || callerLeft(ctx) || errors.Is(err, order.ErrNoOrder) || errors.Is(err, order.ErrNoSwap) {
		return err
	}
	if errors.Is(err, order.ErrNotFound) {
		return fmt.Errorf("%w: %w", ErrUnavailable, storeErr)
	}
	return fmt.Errorf("%w: %w; %w", ErrUnavailable, storeErr, err)
}

func (e *UnreachableError) add(id chain.ID, err error) {
	e.Chains = append(e.Chains, id)
	e.Err = errors.Join(e.Err, fmt.Errorf("chain %d: %w", id, err))
}

// completeAll completes the orders of one transaction concurrently. It leaves out those that are not found.
func (x *Index) completeAll(ctx context.Context, known [][]order.Event, from provenance) ([]*order.Order, error) {
	orders := make([]*order.Order, len(known))
	failures := make([]error, len(known))
	var work sync.WaitGroup
	for i, events := range known {
		work.Go(func() {
			o, err := x.complete(ctx, events, from)
			if orders[i] = o; !errors.Is(err, order.ErrNotFound) || errors.As(err, new(*UnreachableError)) {
				failures[i] = err
			}
		})
	}
	work.Wait()
	found := slices.DeleteFunc(orders, func(o *order.Order) bool { return o == nil })
	return found, errors.Join(failures...)
}

// complete folds an order from the known events and further ones of its two chains. A chain with a level follower has
// none beyond the stored ones, if those are among the known events. A chain that is not configured or has no history
// cannot be asked: the order is as the other chain has it. It returns order.ErrNotFound if a reorg dropped all known
// events.
func (x *Index) complete(ctx context.Context, known []order.Event, from provenance) (*order.Order, error) {
	known, gaps, single := x.identify(ctx, known)
	o, hasTerms := order.Fold(known)
	if !hasTerms {
		return nil, fmt.Errorf("fold order: %w", order.ErrNotFound)
	}
	o.Gaps, o.Single = gaps, slices.Concat(from.single[o.ID], single)
	isFinal := x.isFinal(o.Terms.Give.Chain, o.GiveBlock) && x.isFinal(o.Terms.Take.Chain, o.TakeBlock)
	isOver := isComplete(o) && !x.lacksPart(o) && (isFinal || !from.doubted[o.Terms.Give.Chain] && !from.doubted[o.Terms.Take.Chain])
	if isOver && !from.traced {
		return o, nil
	}
	x.Observer.OrderSeen(ctx, o)
	var give, take query
	if !isOver {
		give, take = x.query(o, order.GiveSide, from), x.query(o, order.TakeSide, from)
	}
	var fromGive, fromTake order.Evidence
	var asked failures
	asked.ask(give.chain, func() (err error) { fromGive, err = x.ask(ctx, &give); return err })
	asked.ask(take.chain, func() (err error) { fromTake, err = x.ask(ctx, &take); return err })
	var work sync.WaitGroup
	created := order.Evidence{Events: known, Standing: order.Corroborated}
	if from.traced {
		isOnGive := func(e order.Event) bool { return e.At.Chain == o.Terms.Give.Chain }
		isOther := func(e order.Event) bool { return !isOnGive(e) }
		work.Go(func() {
			created = x.attest(ctx, o.Terms.Give.Chain, slices.DeleteFunc(slices.Clone(known), isOther))
			created.Events = append(created.Events, slices.DeleteFunc(slices.Clone(known), isOnGive)...)
		})
	}
	work.Go(func() { single = append(o.Single, from.onOneWord()...) })
	unreachable := asked.wait(ctx)
	work.Wait()
	now, _ := order.Fold(created.Events)
	if o.Created != nil && created.Standing > order.Single && now.Created.At.Time != o.Created.At.Time {
		from.single = map[order.ID][]chain.ID{o.ID: o.Single}
		return x.complete(ctx, created.Events, from) // the histories must begin at a different time
	}
	if unreachable != nil {
		return nil, fmt.Errorf("complete order %s: %w", o.ID, unreachable)
	}
	kept := slices.DeleteFunc(slices.Clone(created.Events), func(e order.Event) bool {
		isLasting := from.stored && !from.traced && x.isProven(e.At) // even if an endpoint that lags does not have it
		return !isLasting && (give.replaces(e, fromGive.Events) || take.replaces(e, fromTake.Events))
	})
	completed, hasTerms := order.Fold(slices.Concat(kept, fromGive.Events, fromTake.Events))
	if !hasTerms {
		return nil, fmt.Errorf("complete order %s: dropped by a reorg: %w", o.ID, order.ErrNotFound)
	}
	completed.Gaps, completed.Single = slices.Concat(gaps, give.gaps, take.gaps), single
	if min(created.Standing, fromGive.Standing) == order.Single {
		completed.Single = append(completed.Single, o.Terms.Give.Chain)
	}
	if fromTake.Standing == order.Single {
		completed.Single = append(completed.Single, o.Terms.Take.Chain)
	}
	return completed, nil
}

// provenance says where known events come from, and thus how far they can be relied on.
type provenance struct {
	doubted map[chain.ID]bool // chains in doubt when the store was read: blocks that were read may be gone
	stored  bool              // the events include everything stored about the order
	traced  bool              // the creation was just read from its chain

	// confirm returns what endpoints agree on about the transaction just read from its chain; nil: none was read.
	confirm func() order.Evidence

	single map[order.ID][]chain.ID // chains on which a single endpoint reported some of the events
}

// onOneWord returns the chain of the transaction just read if its contents rest on a single endpoint; none if there are
// none after all.
func (from provenance) onOneWord() []chain.ID {
	if from.confirm == nil {
		return nil
	}
	if said := from.confirm(); said.Standing == order.Single && len(said.Events) > 0 {
		return []chain.ID{said.Events[0].At.Chain}
	}
	return nil
}

// doubted returns the chains in doubt. Call it before reading the store: anything read afterwards descends at least
// from the heads at the time of the call.
func (x *Index) doubted() map[chain.ID]bool {
	chains := map[chain.ID]bool{}
	for _, f := range x.Followers {
		if f.State().Doubt != nil {
			chains[f.ID] = true
		}
	}
	return chains
}

// lacksPart reports whether the store is known to lack blocks of a chain from an order's creation to its newest event
// there: they may have changed its amounts, or cancelled it before the message was sent.
func (x *Index) lacksPart(o *order.Order) bool {
	lacks := func(id chain.ID, newest uint64) bool {
		f := x.Of(id)
		return f != nil && f.State().Lacks(order.Since(o), newest)
	}
	return lacks(o.Terms.Give.Chain, o.GiveBlock) || lacks(o.Terms.Take.Chain, o.TakeBlock)
}

// isComplete reports whether no step can be added to an order: it was paid out, all steps before that are known, and
// its call has ended.
func isComplete(o *order.Order) bool {
	switch {
	case o.Created == nil:
		return false
	case o.Call.IsUnderWay():
		return false
	case o.ClaimedUnlock != nil:
		return o.Fulfilled != nil && o.SentUnlock != nil
	}
	return o.ClaimedCancel != nil && o.SentCancel != nil
}

// query asks a chain for the history of its side of an order; there is nothing to ask if chain is zero.
type query struct {
	chain    chain.ID
	order    order.ID
	side     order.Side
	since    uint64
	creation chain.TxHash // to be read again if a reorg may have dropped it; else absent
	gaps     []order.Gap  // blocks that could not be searched
}

// query returns the query to make about one side of an order.
func (x *Index) query(o *order.Order, side order.Side, from provenance) query {
	id, since := o.Terms.Give.Chain, order.Since(o)
	if side == order.TakeSide {
		id = o.Terms.Take.Chain
	}
	f := x.Of(id)
	if f == nil || f.Orders == nil || from.stored && !from.doubted[id] && f.Covers(since) {
		return query{}
	}
	q := query{chain: id, order: o.ID, side: side, since: since}
	if side == order.GiveSide && o.Created != nil && !from.traced && from.doubted[id] {
		q.creation = o.Created.At.Tx
	}
	return q
}

func (x *Index) ask(ctx context.Context, q *query) (order.Evidence, error) {
	if q.chain == 0 {
		return order.Evidence{Standing: order.Corroborated}, nil
	}
	read, err := x.Of(q.chain).Orders.History(ctx, q.order, q.side, q.since)
	x.warn(ctx, q.chain, read.Wrong)
	if partial, is := errors.AsType[*order.PartialError](err); is {
		q.gaps = []order.Gap{partial.Gap}
		return read, nil
	}
	if err != nil || q.creation.IsAbsent() {
		return read, err
	}
	again, err := x.Source(q.chain).EventsIn(ctx, q.creation)
	if err != nil && !errors.Is(err, order.ErrNotFound) {
		return order.Evidence{}, err
	}
	again = x.agreed(ctx, q.chain, again)
	read.Standing = min(read.Standing, again.Standing)
	for _, e := range again.Events {
		if e.Order == q.order && ledger.IsCreation(e) {
			read.Events = append(read.Events, e)
		}
	}
	return read, nil
}

// replaces reports whether the history repeats a known event, or omits it because a reorg dropped it. The creation is
// kept unless the history repeats it, and so is everything that a history may lack: changes of the amounts and steps of
// the external call.
func (q query) replaces(e order.Event, history []order.Event) bool {
	if e.At.Chain != q.chain || len(q.gaps) > 0 {
		return false
	}
	switch e.Fact.(type) {
	case order.Created:
		return q.side == order.GiveSide && (!q.creation.IsAbsent() || slices.ContainsFunc(history, ledger.IsCreation))
	case order.Claimed:
		return q.side == order.GiveSide
	case order.Fulfilled, order.Sent, order.Cancelled:
		return q.side == order.TakeSide
	}
	return false
}
