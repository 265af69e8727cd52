package index

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"go.opentelemetry.io/otel/attribute"

	"crossgate/chain"
	"crossgate/order"
)

// clockSkew is how many seconds the clocks of two chains may differ: a fulfilment can carry an earlier
// time than the creation that it followed.
const clockSkew = 60

// traceCreation asks every chain that could hold the transaction, all at once. The first that tells of a
// creation ends the search. For each created order it returns the creation.
func (x *Index) traceCreation(ctx context.Context, tx chain.TxHash) (created [][]order.Event, err error) {
	ctx, span := tracer().Start(ctx, "order.trace")
	defer func() { endSpan(span, err) }()
	asked := x.candidates(tx)
	span.SetAttributes(attribute.Int("crossgate.chains", len(asked)))

	answers := make(chan answer, len(asked))
	var chains sync.WaitGroup
	defer chains.Wait()
	race, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, id := range asked {
		chains.Go(func() {
			events, err := x.sources[id].EventsIn(race, tx)
			answers <- answer{id, events, err}
		})
	}
	var v verdict
	for range asked {
		a := <-answers
		if created := a.creations(); len(created) > 0 {
			span.SetAttributes(attribute.Int64("crossgate.chain.id", int64(a.chain)))
			return created, nil
		}
		v.add(a)
	}
	if callerLeft(ctx) {
		return nil, ctx.Err()
	}
	return nil, v.err()
}

// callerLeft reports whether nobody waits any more, which says nothing of the chains. Time that ran out says
// that they did not answer.
func callerLeft(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }

// candidates lists the chains on which a transaction can have this hash.
func (x *Index) candidates(tx chain.TxHash) []chain.ID {
	families := tx.Families()
	var ids []chain.ID
	for _, f := range x.followers {
		if slices.Contains(families, x.options.Chains.Family(f.chain)) {
			ids = append(ids, f.chain)
		}
	}
	return ids
}

// answer is what one chain said of a transaction.
type answer struct {
	chain  chain.ID
	events []order.Event
	err    error
}

func (a answer) creations() [][]order.Event {
	var created [][]order.Event
	for _, e := range a.events {
		if isCreation(e) {
			created = append(created, []order.Event{e})
		}
	}
	return created
}

// verdict sums up the answers of chains that told of no creation.
type verdict struct {
	exists      bool
	unreachable UnreachableError
}

func (v *verdict) add(a answer) {
	switch {
	case a.err == nil:
		v.exists = true
	case !errors.Is(a.err, order.ErrNotFound):
		v.unreachable.add(a.chain, a.err)
	}
}

// err prefers what is certain: a transaction that a chain knows is on no other one.
func (v *verdict) err() error {
	switch {
	case v.exists:
		return order.ErrNoOrder
	case len(v.unreachable.Chains) > 0:
		slices.Sort(v.unreachable.Chains)
		return &v.unreachable
	}
	return order.ErrNotFound
}

func (e *UnreachableError) add(id chain.ID, err error) {
	e.Chains = append(e.Chains, id)
	e.Err = errors.Join(e.Err, fmt.Errorf("chain %d: %w", id, err))
}

// completeAll completes the orders of one transaction at once.
func (x *Index) completeAll(ctx context.Context, known [][]order.Event, from origin) ([]*order.Order, error) {
	orders := make([]*order.Order, len(known))
	failures := make([]error, len(known))
	var work sync.WaitGroup
	for i, events := range known {
		work.Go(func() { orders[i], failures[i] = x.complete(ctx, events, from) })
	}
	work.Wait()
	if err := errors.Join(failures...); err != nil {
		return nil, err
	}
	return orders, nil
}

// complete folds an order of the known events and of what its two chains say beyond them. A chain whose
// follower is level with it said nothing beyond what is stored, if that is among the known events; a chain
// that is not configured, or tells no history, cannot be asked, and the order is as the other chain tells it.
// order.ErrNotFound when a reorg dropped everything that is known.
func (x *Index) complete(ctx context.Context, known []order.Event, from origin) (*order.Order, error) {
	o, told := order.Fold(known)
	if !told {
		return nil, fmt.Errorf("fold order: %w", order.ErrNotFound)
	}
	if isComplete(o) && (x.Settled(o) || from.stands(o.Terms.Give.Chain) && from.stands(o.Terms.Take.Chain)) {
		return o, nil
	}
	if x.options.Announce != nil {
		x.options.Announce(ctx, o)
	}
	give, take := x.question(o, order.GiveSide, from), x.question(o, order.TakeSide, from)
	var fromGive, fromTake []order.Event
	var giveErr, takeErr error
	var work sync.WaitGroup
	work.Go(func() { fromGive, giveErr = x.ask(ctx, give) })
	work.Go(func() { fromTake, takeErr = x.ask(ctx, take) })
	work.Wait()
	if err := unreachable(ctx, give, giveErr, take, takeErr); err != nil {
		return nil, fmt.Errorf("complete order %s: %w", o.ID, err)
	}
	kept := slices.DeleteFunc(slices.Clone(known), func(e order.Event) bool {
		return give.replaces(e, fromGive) || take.replaces(e, fromTake)
	})
	completed, told := order.Fold(slices.Concat(kept, fromGive, fromTake))
	if !told {
		return nil, fmt.Errorf("complete order %s: dropped by a reorg: %w", o.ID, order.ErrNotFound)
	}
	return completed, nil
}

// origin says what known events can be relied on for.
type origin struct {
	// unsettled are chains of which blocks that were read may be gone when the store was asked.
	unsettled map[chain.ID]bool
	stored    bool // everything that is stored of the order is among the events
	traced    bool // its chain has told the creation just now
}

func (from origin) stands(id chain.ID) bool { return !from.unsettled[id] }

// unsettled lists the chains that have told of a head which the store does not stand on yet. It has to be asked
// before the store is read: what is read later stands on these heads at least.
func (x *Index) unsettled() map[chain.ID]bool {
	var chains map[chain.ID]bool
	for _, f := range x.followers {
		if f.doubts() != nil {
			if chains == nil {
				chains = map[chain.ID]bool{}
			}
			chains[f.chain] = true
		}
	}
	return chains
}

// isComplete reports whether nothing can be added to an order: it was paid out, all steps to there are
// known, and its call is over.
func isComplete(o *order.Order) bool {
	switch {
	case o.Created == nil:
		return false
	case o.Call == order.AwaitingExecution || o.Call == order.Executing:
		return false
	case o.ClaimedUnlock != nil:
		return o.Fulfilled != nil && o.SentUnlock != nil
	}
	return o.ClaimedCancel != nil && o.SentCancel != nil
}

// question asks a chain for the history of its side of an order; needless when chain is zero.
type question struct {
	chain     chain.ID
	historian order.HistorySource
	order     order.ID
	side      order.Side
	since     uint64
	creation  chain.TxHash // to be told again, since a reorg may have dropped it; absent when it stands
}

// question says what has to be asked of one side of an order.
func (x *Index) question(o *order.Order, side order.Side, from origin) question {
	id, since := o.Terms.Give.Chain, uint64(0)
	if side == order.TakeSide {
		id = o.Terms.Take.Chain
	}
	if o.Created != nil {
		since = o.Created.At.Time - min(clockSkew, o.Created.At.Time)
	}
	f, followed := x.byChain[id]
	historian, tells := x.sources[id].(order.HistorySource)
	if !followed || !tells || from.stored && from.stands(id) && f.covers(since) {
		return question{}
	}
	q := question{chain: id, historian: historian, order: o.ID, side: side, since: since}
	if side == order.GiveSide && o.Created != nil && !from.traced && !from.stands(id) {
		q.creation = o.Created.At.Tx
	}
	return q
}

func (x *Index) ask(ctx context.Context, q question) ([]order.Event, error) {
	if q.chain == 0 {
		return nil, nil
	}
	events, err := q.historian.History(ctx, q.order, q.side, q.since)
	if err != nil || q.creation.IsAbsent() {
		return events, err
	}
	again, err := x.sources[q.chain].EventsIn(ctx, q.creation)
	if err != nil && !errors.Is(err, order.ErrNotFound) {
		return nil, err
	}
	for _, e := range again {
		if e.Order == q.order && isCreation(e) {
			events = append(events, e)
		}
	}
	return events, nil
}

// replaces reports whether the answer tells a known event anew, or leaves it out because a reorg dropped it.
// The creation stays unless the answer tells it again, and so does what a history may lack: changes of the
// amounts and steps of the external call.
func (q question) replaces(e order.Event, answer []order.Event) bool {
	if e.At.Chain != q.chain {
		return false
	}
	switch e.Fact.(type) {
	case order.Created:
		return q.side == order.GiveSide && (!q.creation.IsAbsent() || slices.ContainsFunc(answer, isCreation))
	case order.Claimed:
		return q.side == order.GiveSide
	case order.Fulfilled, order.Sent, order.Cancelled:
		return q.side == order.TakeSide
	}
	return false
}

func isCreation(e order.Event) bool {
	_, creation := e.Fact.(order.Created)
	return creation
}

func unreachable(ctx context.Context, give question, giveErr error, take question, takeErr error) error {
	if giveErr == nil && takeErr == nil {
		return nil
	}
	if callerLeft(ctx) {
		return ctx.Err()
	}
	var failed UnreachableError
	if giveErr != nil {
		failed.add(give.chain, giveErr)
	}
	if takeErr != nil {
		failed.add(take.chain, takeErr)
	}
	return &failed
}
