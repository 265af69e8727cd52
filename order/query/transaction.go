package query

import (
	"cmp"
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

// NotCreatedError is an order.ErrNoOrder for a transaction that is a later step of orders.
type NotCreatedError struct{ Orders []order.ID }

func (e *NotCreatedError) Error() string {
	return fmt.Sprintf("%s, it is a later step of %d", order.ErrNoOrder, len(e.Orders))
}

func (e *NotCreatedError) Unwrap() error { return order.ErrNoOrder }

// transaction holds the known events of the orders that a transaction is a step of.
type transaction struct {
	orders  [][]order.Event // in the order of ledger.ByOrder
	created int             // how many orders the transaction created; they come first
	at      order.At        // position of one of the transaction's events
	read    []order.Event   // the transaction's events as just read from its chain; nil: read from the store
	from    provenance
	done    func() // ends the search; to be called after everything that depends on it is read
}

func (t transaction) ids() []order.ID {
	ids := make([]order.ID, len(t.orders))
	for i, events := range t.orders {
		ids[i] = events[0].Order
	}
	return ids
}

// look reads a transaction's orders from the store or, if that has none or they may be gone, from the chains.
func (x *Index) look(ctx context.Context, tx chain.TxHash) (t transaction, err error) {
	t = transaction{from: provenance{doubted: x.doubted()}, done: func() {}}
	var storeErr error
	isLacking := false
	t.orders, storeErr = x.store.OrdersIn(ctx, tx)
	t.count(tx)
	if len(t.orders) == 0 || t.created == 0 && t.from.doubted[t.at.Chain] {
		var read order.Evidence
		read, t.done, err = x.trace(ctx, tx, storeErr)
		t.take(tx, read.Events)
		if read.Confirm != nil {
			t.from.confirm = sync.OnceValue(func() order.Evidence {
				said := read.Confirm(ctx)
				x.warn(ctx, t.at.Chain, said.Wrong)
				return said
			})
		}
		if errors.Is(err, ErrUnasked) {
			t.orders, storeErr = x.store.OrdersIn(ctx, tx)
			t.count(tx)
			err = withStore(ctx, err, storeErr)
		}
		if stopped := x.stopped(); stopped != nil && errors.Is(err, order.ErrNotFound) {
			err = stopped
		}
		if err != nil && len(t.orders) == 0 {
			return t, err
		}
		if t.from.traced = t.read != nil; t.from.traced && storeErr == nil {
			isLacking = x.isLacking(t.orders)
			storeErr = x.store.AddStored(ctx, t.orders)
		}
	}
	if storeErr != nil && !errors.Is(storeErr, store.ErrUnavailable) {
		x.Logger.WarnContext(ctx, "order index unavailable; reading chains directly", "error", storeErr)
	}
	t.from.stored = storeErr == nil && !isLacking
	return t, nil
}

// isLacking reports whether any of the events should have been in the store but was not. It has their orders queued for
// comparison with the contracts.
func (x *Index) isLacking(orders [][]order.Event) (is bool) {
	for _, events := range orders {
		at := slices.IndexFunc(events, func(e order.Event) bool {
			f := x.Of(e.At.Chain)
			return f != nil && f.HasRead(e.At.Block)
		})
		if at < 0 {
			continue
		}
		is = true
		select {
		case x.Of(events[at].At.Chain).Lacking <- events[at].Order:
		default:
		}
	}
	return is
}

// take replaces an earlier reading of the transaction.
func (t *transaction) take(tx chain.TxHash, read []order.Event) {
	ofOrders, _ := ledger.Parted(read)
	t.read, t.orders = read, ledger.ByOrder(ofOrders, tx)
	t.count(tx)
}

// correct switches to the reading that the chain's endpoints agree on, and reports whether it differs.
func (x *Index) correct(ctx context.Context, tx chain.TxHash, t *transaction) (isCorrected bool) {
	if t.from.confirm == nil || order.Say(t.read) == order.Say(t.from.confirm().Events) {
		return false
	}
	t.take(tx, t.from.confirm().Events)
	t.from.stored = t.from.stored && x.store.AddStored(ctx, t.orders) == nil
	return true
}

// count records where the transaction is and how many of the orders it created.
func (t *transaction) count(tx chain.TxHash) {
	t.created = 0
	for _, events := range t.orders {
		for _, e := range events {
			if e.At.Tx != tx {
				continue
			}
			if t.at = e.At; ledger.IsCreation(e) {
				t.created++
				break
			}
		}
	}
}

// Find returns the orders that a transaction created, in log order, and the basis of the search, even with an error. It
// reads the store, and the chains for anything that the store does not cover. It returns order.ErrNotFound if no chain
// knows the transaction (see ErrUnasked), order.ErrNoOrder if it created none, *NotCreatedError if it is a later step
// of orders, *UnreachableError if a chain does not answer that could know it (*UnheardError) or must be asked about an
// order, and *BusyError if chains are not asked. While the store cannot be read, the chains are asked for everything,
// and ErrUnavailable replaces order.ErrNotFound.
func (x *Index) Find(ctx context.Context, tx chain.TxHash) ([]Found, order.Basis, error) {
	return x.find(ctx, tx, func(_ context.Context, t *transaction) error {
		if t.created == 0 {
			return &NotCreatedError{t.ids()}
		}
		t.orders = t.orders[:t.created]
		return nil
	})
}

// FindIn returns the orders that a transaction has any event of, in the order of IDsIn: those with the given ids, or
// all of them if there are none. See Find for the errors.
func (x *Index) FindIn(ctx context.Context, tx chain.TxHash, ids ...order.ID) ([]Found, order.Basis, error) {
	return x.find(ctx, tx, func(ctx context.Context, t *transaction) error {
		t.orders = slices.DeleteFunc(t.orders, func(events []order.Event) bool {
			return len(ids) > 0 && !slices.Contains(ids, events[0].Order)
		})
		return x.addCreations(ctx, t)
	})
}

// find completes those orders of a transaction that choose selects.
func (x *Index) find(
	ctx context.Context, tx chain.TxHash, choose func(context.Context, *transaction) error,
) (found []Found, searched order.Basis, err error) {
	ctx, span := startFind(ctx, tx)
	defer func() { endSpan(span, err) }()
	searched = x.Basis()
	t, err := x.look(ctx, tx)
	defer func() { t.done() }()
	span.SetAttributes(attribute.Bool("crossgate.order.indexed", err == nil && !t.from.traced))
	if err != nil {
		return nil, searched, fmt.Errorf("find orders of %s: %w", tx, err)
	}
	orders, err := x.completeIn(ctx, tx, &t, choose)
	if err != nil {
		return nil, searched, err
	}
	return x.found(ctx, searched, t.from, orders...), searched, nil
}

// completeIn completes the orders that choose selects, and does so again if endpoints agree on different ones.
func (x *Index) completeIn(
	ctx context.Context, tx chain.TxHash, t *transaction, choose func(context.Context, *transaction) error,
) (orders []*order.Order, err error) {
	created := t.ids()[:t.created]
	if err = choose(ctx, t); err != nil {
		err = fmt.Errorf("find orders of %s: %w", tx, err)
	} else {
		orders, err = x.completeAll(ctx, t.orders, t.from)
	}
	if x.correct(ctx, tx, t) {
		if len(t.orders) == 0 {
			return nil, fmt.Errorf("find orders of %s: %w", tx, order.ErrNoOrder)
		}
		return x.completeIn(ctx, tx, t, choose)
	}
	if err != nil {
		return nil, err
	}
	orders = slices.DeleteFunc(orders, func(o *order.Order) bool { // a reorg can have moved it into another transaction
		return slices.Contains(created, o.ID) && (o.Created == nil || o.Created.At.Tx != tx)
	})
	if len(orders) == 0 {
		return nil, fmt.Errorf("find orders of %s: dropped by a reorg: %w", tx, order.ErrNotFound)
	}
	return orders, nil
}

func startFind(ctx context.Context, tx chain.TxHash) (context.Context, trace.Span) {
	return tracer().Start(ctx, "order.find", trace.WithAttributes(attribute.Stringer("crossgate.order.transaction", tx)))
}

// IDsIn returns the orders that a transaction has any event of, those that it created first, each group in log order,
// and the transaction's position. It reads nothing else about them. The errors and their basis are those of Find.
func (x *Index) IDsIn(ctx context.Context, tx chain.TxHash) (ids []order.ID, at order.At, basis order.Basis, err error) {
	ctx, span := startFind(ctx, tx)
	defer func() { endSpan(span, err) }()
	searched := x.Basis()
	t, err := x.look(ctx, tx)
	defer func() { t.done() }()
	if err != nil {
		return nil, at, searched, fmt.Errorf("find orders of %s: %w", tx, err)
	}
	isSingle := false
	for isRead := t.from.traced; isRead; isRead = x.correct(ctx, tx, &t) {
		var beside sync.WaitGroup
		beside.Go(func() { isSingle = len(t.from.onOneWord()) > 0 })
		placed := x.attest(ctx, t.at.Chain, []order.Event{{At: t.at}})
		beside.Wait()
		isSingle = isSingle || placed.Standing == order.Single
	}
	if len(t.orders) == 0 {
		return nil, at, searched, fmt.Errorf("find orders of %s: %w", tx, order.ErrNoOrder)
	}
	basis = x.placed(searched, t.at, x.keptAt(ctx, t.at))
	basis.Chains[0].Single = isSingle
	return t.ids(), t.at, basis, nil
}

// addCreations adds missing creations of orders. An order's give chain is taken from its terms or a claim, or is the
// chain that stores it. It returns *UnreachableError if a chain that must be asked does not answer.
func (x *Index) addCreations(ctx context.Context, t *transaction) error {
	give, unplaced := make(map[order.ID]chain.ID), []order.ID(nil)
	for _, events := range t.orders {
		id, is := giveChain(events)
		if give[events[0].Order] = id; !is {
			unplaced = append(unplaced, events[0].Order)
		}
	}
	if err := x.place(ctx, unplaced, give); err != nil {
		return err
	}
	var asked failures
	standing := make([]order.Standing, len(t.orders))
	for i, events := range t.orders {
		id := give[events[0].Order]
		f := x.Of(id)
		if standing[i] = order.Intrinsic; f == nil || f.Orders == nil || slices.ContainsFunc(events, ledger.IsCreation) {
			continue
		}
		asked.ask(id, func() error {
			read, err := f.Orders.History(ctx, events[0].Order, order.GiveSide, 0)
			x.warn(ctx, id, read.Wrong)
			standing[i] = read.Standing
			if t.orders[i] = append(events, read.Events...); errors.As(err, new(*order.PartialError)) {
				return nil
			}
			return err
		})
	}
	err := asked.wait(ctx)
	t.from.single = make(map[order.ID][]chain.ID)
	for i, id := range t.ids() {
		if standing[i] == order.Single {
			t.from.single[id] = []chain.ID{give[id]}
		}
	}
	return err
}

// giveChain returns the give chain of an order if its events reveal it.
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

// errUnheard says that only one of a chain's several endpoints reported that the chain stores nothing.
var errUnheard = errors.New("only one endpoint reports that it stores nothing")

// place asks all chains concurrently which of some orders they store as give chain, and records that in give.
func (x *Index) place(ctx context.Context, ids []order.ID, give map[order.ID]chain.ID) error {
	var mu sync.Mutex
	var asked failures
	for _, f := range x.Followers {
		if f.Orders == nil || len(ids) == 0 {
			continue
		}
		asked.ask(f.ID, func() error {
			states, err := f.Orders.States(ctx, ids)
			mu.Lock()
			defer mu.Unlock()
			for i, stored := range states {
				if err = cmp.Or(err, stored.Err); stored.State != order.None {
					give[ids[i]] = f.ID
				} else if stored.IsSingle && !f.Basis().Single {
					err = cmp.Or(err, errUnheard)
				}
			}
			return err
		})
	}
	err := asked.wait(ctx)
	if slices.ContainsFunc(ids, func(id order.ID) bool { return give[id] == 0 }) {
		return err
	}
	return nil
}

// failures collects the failures of chains that are asked concurrently.
type failures struct {
	work   sync.WaitGroup
	mu     sync.Mutex
	failed UnreachableError
}

func (f *failures) ask(id chain.ID, question func() error) {
	f.work.Go(func() {
		if err := question(); err != nil {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.failed.add(id, err)
		}
	})
}

// wait returns *UnreachableError if a chain failed, or the context's error if the caller has left.
func (f *failures) wait(ctx context.Context) error {
	f.work.Wait()
	if len(f.failed.Chains) > 0 && callerLeft(ctx) {
		return ctx.Err()
	}
	if slices.Sort(f.failed.Chains); len(f.failed.Chains) == 0 {
		return nil
	}
	return &f.failed
}
