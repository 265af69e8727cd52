package query

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/ledger"
	"crossgate/store"
)

// NotCreatedError is an order.ErrNoOrder of a transaction that is a later step of orders.
type NotCreatedError struct{ Orders []order.ID }

func (e *NotCreatedError) Error() string {
	return fmt.Sprintf("%s, it is a later step of %d", order.ErrNoOrder, len(e.Orders))
}

// Unwrap returns order.ErrNoOrder.
func (e *NotCreatedError) Unwrap() error { return order.ErrNoOrder }

// transaction is what is known of the orders that a transaction has events of.
type transaction struct {
	orders  [][]order.Event // in the sequence of ledger.ByOrder
	created int             // how many it created
	at      order.At        // of one of its events
	from    provenance
	done    func() // to be called when what follows from it is read as well
}

func (t transaction) ids() []order.ID {
	ids := make([]order.ID, len(t.orders))
	for i, events := range t.orders {
		ids[i] = events[0].Order
	}
	return ids
}

// look reads what the store knows of a transaction's orders; if that is nothing, or may be gone, what the chains do.
func (x *Index) look(ctx context.Context, tx chain.TxHash) (t transaction, err error) {
	t = transaction{from: provenance{unsettled: x.unsettled()}, done: func() {}}
	var storeErr error
	t.orders, storeErr = x.store.OrdersIn(ctx, tx)
	t.count(tx)
	if len(t.orders) == 0 || t.created == 0 && !t.from.isSettled(t.at.Chain) {
		t.orders, t.done, err = x.trace(ctx, tx, storeErr)
		if errors.Is(err, ErrUnasked) {
			t.orders, storeErr = x.store.OrdersIn(ctx, tx)
			err = withStore(ctx, err, storeErr)
		}
		if stopped := x.stopped(); stopped != nil && errors.Is(err, order.ErrNotFound) {
			err = stopped
		}
		if err != nil && len(t.orders) == 0 {
			return t, err
		}
		t.from.traced = true
		t.count(tx)
		if storeErr == nil {
			storeErr = x.store.AddStored(ctx, t.orders)
		}
	}
	if storeErr != nil && !errors.Is(storeErr, store.ErrUnavailable) {
		x.Logger.WarnContext(ctx, "order index unavailable; reading chains directly", "error", storeErr)
	}
	t.from.stored = storeErr == nil
	return t, nil
}

// count takes note of where the transaction is, and how many of the orders it created.
func (t *transaction) count(tx chain.TxHash) {
	t.created = 0
	for _, events := range t.orders {
		for _, e := range events {
			if e.At.Tx != tx {
				continue
			}
			if t.at = e.At; ledger.IsCreation(e) {
				t.created++
			}
		}
	}
}

// Find returns the orders that a transaction created, in log order, and what was searched for them, also beside an
// error. It reads the store, and the chains for what the store does not cover: order.ErrNotFound when no chain knows
// the transaction (see ErrUnasked), order.ErrNoOrder when it created none, *NotCreatedError when it is a later step of
// orders, *UnreachableError when a chain does not answer that could know it (*UnheardError) or has to be asked about an
// order, *BusyError when chains are not asked. While the store cannot be read, the chains are asked for everything, and
// what they do not find is ErrUnavailable.
func (x *Index) Find(ctx context.Context, tx chain.TxHash) (found []Found, searched order.Basis, err error) {
	ctx, span := startFind(ctx, tx)
	defer func() { endSpan(span, err) }()
	searched = x.Basis()
	t, err := x.look(ctx, tx)
	defer func() { t.done() }()
	span.SetAttributes(attribute.Bool("crossgate.order.indexed", err == nil && !t.from.traced))
	if err == nil && t.created == 0 {
		err = &NotCreatedError{t.ids()}
	}
	if err != nil {
		return nil, searched, fmt.Errorf("find orders created in %s: %w", tx, err)
	}
	orders, err := x.completeAll(ctx, t.orders[:t.created], t.from)
	if err != nil {
		return nil, searched, err
	}
	// A reorg can have moved an order into another transaction.
	orders = slices.DeleteFunc(orders, func(o *order.Order) bool { return o.Created == nil || o.Created.At.Tx != tx })
	if len(orders) == 0 {
		return nil, searched, fmt.Errorf("find orders created in %s: dropped by a reorg: %w", tx, order.ErrNotFound)
	}
	return x.found(ctx, searched, t.from, orders...), searched, nil
}

func startFind(ctx context.Context, tx chain.TxHash) (context.Context, trace.Span) {
	return tracer().Start(ctx, "order.find", trace.WithAttributes(attribute.Stringer("crossgate.order.transaction", tx)))
}

// IDsIn returns the orders that a transaction has any event of, those that it created first, each in log order, and
// where it is. It reads nothing else of them; the errors are those of Find, with the basis of what was searched.
func (x *Index) IDsIn(ctx context.Context, tx chain.TxHash) (ids []order.ID, at order.At, basis order.Basis, err error) {
	ctx, span := startFind(ctx, tx)
	defer func() { endSpan(span, err) }()
	searched := x.Basis()
	t, err := x.look(ctx, tx)
	defer func() { t.done() }()
	if err != nil {
		return nil, at, searched, fmt.Errorf("find orders of %s: %w", tx, err)
	}
	c := searched.Of(t.at.Chain)
	if c.Final = x.isFinal(c.Chain, t.at.Block); !c.Final {
		c.Unread = !x.keptAmong(ctx, []ledger.ChainBlock{blockAt(t.at)})[blockAt(t.at)]
	}
	if t.from.traced {
		on, _ := parted(slices.Concat(t.orders...), t.at.Chain)
		isOther := func(e order.Event) bool { return e.At.Tx != tx }
		c.Single = order.Attest(ctx, x.Source(t.at.Chain), slices.DeleteFunc(on, isOther)).Standing == order.Single
	}
	return t.ids(), t.at, order.Basis{At: searched.At, Behind: searched.Behind, Chains: []order.ChainBasis{c}}, nil
}

// FindIn returns orders that a transaction has any event of, in the sequence of IDsIn: those with some ids, without any
// all of them. See Find for the errors.
func (x *Index) FindIn(ctx context.Context, tx chain.TxHash, ids ...order.ID) (found []Found, searched order.Basis, err error) {
	ctx, span := startFind(ctx, tx)
	defer func() { endSpan(span, err) }()
	searched = x.Basis()
	t, err := x.look(ctx, tx)
	defer func() { t.done() }()
	if err != nil {
		return nil, searched, fmt.Errorf("find orders of %s: %w", tx, err)
	}
	wanted := slices.DeleteFunc(t.orders, func(events []order.Event) bool {
		return len(ids) > 0 && !slices.Contains(ids, events[0].Order)
	})
	if err := x.addCreations(ctx, wanted); err != nil {
		return nil, searched, fmt.Errorf("find creations of the orders of %s: %w", tx, err)
	}
	orders, err := x.completeAll(ctx, wanted, t.from)
	if err == nil && len(orders) == 0 {
		err = order.ErrNotFound
	}
	if err != nil {
		return nil, searched, err
	}
	return x.found(ctx, searched, t.from, orders...), searched, nil
}

// addCreations adds the creations of orders whose events have none. An order's give chain is that in its terms, that of
// a claim, or the one that stores it. *UnreachableError when a chain does not answer that has to be asked.
func (x *Index) addCreations(ctx context.Context, orders [][]order.Event) error {
	give, unplaced := make(map[order.ID]chain.ID), []order.ID(nil)
	for _, events := range orders {
		id, is := giveChain(events)
		if give[events[0].Order] = id; !is {
			unplaced = append(unplaced, events[0].Order)
		}
	}
	if err := x.place(ctx, unplaced, give); err != nil {
		return err
	}
	var mu sync.Mutex
	var failed UnreachableError
	var work sync.WaitGroup
	for i, events := range orders {
		id := give[events[0].Order]
		historian, is := x.Source(id).(order.HistorySource)
		if !is || slices.ContainsFunc(events, ledger.IsCreation) {
			continue
		}
		work.Go(func() {
			read, err := historian.History(ctx, events[0].Order, order.GiveSide, 0)
			mu.Lock()
			defer mu.Unlock()
			if err != nil && !errors.As(err, new(*order.PartialError)) {
				failed.add(id, err)
			}
			orders[i] = append(events, read.Events...)
		})
	}
	work.Wait()
	return failed.orNil(ctx)
}

// giveChain is the give chain of an order, where its events say so.
func giveChain(events []order.Event) (id chain.ID, is bool) {
	for _, e := range events {
		switch fact := e.Fact.(type) {
		case order.Created, order.Claimed, order.GiveIncreased:
			return e.At.Chain, true
		case order.Fulfilled:
			return fact.Terms.Give.Chain, true
		}
	}
	return 0, false
}

// place asks all chains at once which of some orders they store, as their give chain does.
func (x *Index) place(ctx context.Context, ids []order.ID, give map[order.ID]chain.ID) error {
	var mu sync.Mutex
	var failed UnreachableError
	var work sync.WaitGroup
	for _, f := range x.Followers {
		reader, is := x.Source(f.ID).(order.StateReader)
		if !is || len(ids) == 0 {
			continue
		}
		work.Go(func() {
			states, err := reader.States(ctx, ids)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed.add(f.ID, err)
			}
			for i, stored := range states {
				if stored.State != order.None {
					give[ids[i]] = f.ID
				}
			}
		})
	}
	work.Wait()
	if !slices.ContainsFunc(ids, func(id order.ID) bool { return give[id] == 0 }) {
		return nil
	}
	return failed.orNil(ctx)
}

// orNil is the error if there is a chain in it, or that the caller has left.
func (e *UnreachableError) orNil(ctx context.Context) error {
	switch {
	case len(e.Chains) == 0:
		return nil
	case callerLeft(ctx):
		return ctx.Err()
	}
	slices.Sort(e.Chains)
	return e
}
