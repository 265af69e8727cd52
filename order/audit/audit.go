package audit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/follow"
	"crossgate/order/ledger"
	"crossgate/order/proof"
)

// Audit is the result of comparing a chain with the store.
type Audit struct {
	Chain        chain.ID
	From, To     uint64 // blocks that the index has read and no reorg can change
	Orders       uint64 // orders compared
	Transactions uint64 // their transactions that were read again
	Differences  []Difference
	Unchecked    []Unchecked
	Err          error // why the comparison ended early
}

// IsSound reports whether everything was compared without differences.
func (a Audit) IsSound() bool {
	return len(a.Differences) == 0 && len(a.Unchecked) == 0 && a.Err == nil
}

// Difference is a difference between the chain and the store about one order.
type Difference struct {
	Order   order.ID
	Missing []order.Event // on the chain but not in the store
	False   []order.Event // in the store but not in their transactions
	// Contradicted says that the contract stores State, which neither the stored events nor those found explain.
	Contradicted bool
	State        order.State
}

// Unchecked is an order that could not be compared.
type Unchecked struct {
	Order order.ID
	Err   error
}

// Audit compares stored orders with the state of the chains' contracts, and stored events with the receipts of their
// transactions. If the contracts know a step that the store lacks, it searches the chain for the event. It omits blocks
// that a reorg can still change or that the index has not read. It changes nothing. report is called for every step,
// from several goroutines. The result is ascending by chain.
func (b *Books) Audit(ctx context.Context, of ledger.Selection, report func(Progress)) ([]Audit, error) {
	if err := b.learnAnchors(ctx); err != nil {
		return nil, err
	}
	return each(b.of(of.Chain), func(r *follow.Reader) Audit {
		a := &auditor{Reader: r, report: report}
		return a.run(ctx, of)
	}), ctx.Err()
}

const idsAtOnce = 300

type auditor struct {
	*follow.Reader
	report   func(Progress)
	progress Progress
	audit    Audit
	found    map[order.ID]*Difference
	isAlone  bool          // everything known about the chain rests on a single endpoint
	over     []ledger.Side // sides that agree with the contracts and will not change
}

func (a *auditor) run(ctx context.Context, of ledger.Selection) Audit {
	a.audit, a.found = Audit{Chain: a.ID}, map[order.ID]*Difference{}
	a.progress = Progress{Chain: a.ID}
	a.audit.Err = a.compareAll(ctx, of)
	for _, id := range slices.SortedFunc(maps.Keys(a.found), chain.Hash.Compare) {
		a.audit.Differences = append(a.audit.Differences, *a.found[id])
	}
	a.progress.Done, a.progress.Err = a.audit.Err == nil, a.audit.Err
	a.report(a.progress)
	return a.audit
}

func (a *auditor) compareAll(ctx context.Context, of ledger.Selection) error {
	head, err := a.Source.Head(ctx)
	if err != nil {
		return fmt.Errorf("read head: %w", err)
	}
	ids, err := a.Ledger.Selected(ctx, a.ID, of)
	if err != nil {
		return err
	}
	a.progress.Total = uint64(len(ids))
	for part := range slices.Chunk(ids, idsAtOnce) {
		// Read the checkpoint before the events: they include all events up to it.
		position, known, err := a.Ledger.Checkpoint(ctx, a.ID)
		if err != nil || !known {
			return err
		}
		r := ledger.Range{From: position.First, To: min(position.Block, head.Finalized)}
		a.audit.From, a.audit.To = r.From, r.To
		a.isAlone = position.ProvenEnd <= position.ProvenFrom || position.IsSingle()
		stored, err := ledger.EventsOfAll(ctx, a.Ledger, part)
		if err != nil {
			return err
		}
		var sides []*side
		for _, id := range part {
			sides = append(sides, a.sidesOf(id, stored[id])...)
		}
		if err := a.readStates(ctx, sides...); err != nil {
			return err
		}
		a.audit.Orders += uint64(len(part))
		if !of.StatesAlone {
			if err := a.compareReceipts(ctx, sides, r); err != nil {
				return err
			}
		}
		if err := a.compareStates(ctx, sides, r); err != nil {
			return err
		}
		a.progress.Read += uint64(len(part))
		a.progress.Events = a.audit.Transactions
		a.report(a.progress)
	}
	return nil
}

// readStates reads what the contracts store of sides of orders, as far as they can be asked.
func (a *auditor) readStates(ctx context.Context, sides ...*side) error {
	if a.Orders == nil {
		return nil
	}
	for of, read := range map[order.Side]func(context.Context, []order.ID) ([]order.StoredState, error){
		order.GiveSide: a.Orders.States, order.TakeSide: a.Orders.TakeStates,
	} {
		var asked []*side
		var ids []order.ID
		for _, s := range sides {
			if s.side == of {
				asked, ids = append(asked, s), append(ids, s.id)
			}
		}
		if len(ids) == 0 {
			continue
		}
		states, err := read(ctx, ids)
		if err != nil {
			return fmt.Errorf("read the orders' state from the contracts: %w", err)
		}
		for i, state := range states {
			asked[i].state = state
		}
	}
	return nil
}

// sidesOf returns the sides that one order has on the chain: by its terms or, if these are not known, both.
func (a *auditor) sidesOf(id order.ID, stored []order.Event) (sides []*side) {
	give, take := &side{id: id, side: order.GiveSide}, &side{id: id, side: order.TakeSide}
	for _, e := range stored {
		switch {
		case e.At.Chain != a.ID:
		case order.SideOf(e.Fact) == order.GiveSide:
			give.stored = append(give.stored, e)
		default:
			take.stored = append(take.stored, e)
		}
	}
	o, hasTerms := order.Fold(stored)
	if hasTerms {
		give.since, take.since, take.take = order.Since(o), order.Since(o), o.Terms.Take.Amount
		take.calls = o.Call.IsUnderWay()
	}
	if hasTerms && o.Terms.Give.Chain == a.ID || len(give.stored) > 0 || !hasTerms {
		sides = append(sides, give)
	}
	if hasTerms && o.Terms.Take.Chain == a.ID || len(take.stored) > 0 || !hasTerms {
		sides = append(sides, take)
	}
	return sides
}

// compareStates searches the chain for events of orders whose stored steps do not match the contracts' states, or lack
// the end of a call.
func (a *auditor) compareStates(ctx context.Context, sides []*side, r ledger.Range) error {
	for _, s := range sides {
		known := a.known(s)
		if a.Orders == nil || s.accountsFor(known) && !s.calls {
			if len(ledger.Within(known, r)) == len(known) && s.isOver() && !a.isOneWord(s) {
				a.over = append(a.over, ledger.Side{Order: s.id, Side: s.side})
			}
			continue
		}
		if err := a.search(ctx, s, r); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			a.audit.Unchecked = append(a.audit.Unchecked, Unchecked{s.id, err})
		}
	}
	return nil
}

// isOneWord reports whether a side's state rests on a single endpoint that is not believed: an endpoint on its own is
// believed if no others are known, but not that the contracts store nothing.
func (a *auditor) isOneWord(s *side) bool {
	return s.state.IsSingle && (!a.isAlone || s.state.State == order.None)
}

// known returns the stored events of a side, corrected by the differences found.
func (a *auditor) known(s *side) []order.Event {
	d := a.found[s.id]
	if d == nil {
		return s.stored
	}
	events := ledger.Correction{Missing: d.Missing, Wrong: d.False}.Applied(s.stored)
	return slices.DeleteFunc(events, func(e order.Event) bool { return order.SideOf(e.Fact) != s.side })
}

// search finds the events of a side on the chain, and compares those in a range with the stored ones. It tries again if
// they do not explain the state, which may have changed meanwhile.
func (a *auditor) search(ctx context.Context, s *side, r ledger.Range) error {
	for range 2 {
		if s.state.Err != nil {
			return s.state.Err
		}
		if a.isOneWord(s) && !s.accountsFor(a.known(s)) {
			return proof.ErrOneWord
		}
		read, err := a.history(ctx, s)
		if err != nil {
			return err
		}
		history, c := read.Events, ledger.Correct(s.stored, read.Events)
		if read.Standing == order.Single && !a.isAlone && !c.IsEmpty() {
			return proof.ErrOneWord
		}
		a.differ(ledger.Within(c.Missing, r), ledger.Refilled(c.Wrong, c.Missing, r))
		if s.accountsFor(slices.Concat(a.known(s), history)) {
			return nil
		}
		if err := a.readStates(ctx, s); err != nil {
			return err
		}
	}
	d := a.difference(s.id)
	d.Contradicted, d.State = true, s.state.State
	return nil
}

func (a *auditor) history(ctx context.Context, s *side) (order.Evidence, error) {
	since := s.since
	if s.side == order.GiveSide && !slices.ContainsFunc(s.stored, ledger.IsCreation) {
		since = 0 // otherwise the history may omit the creation
	}
	read, err := a.Orders.History(ctx, s.id, s.side, since)
	a.Blame(ctx, read.Wrong)
	return read, err
}

const receiptsAtOnce = 16

// compareReceipts reads the transactions of stored events again and compares them.
func (a *auditor) compareReceipts(ctx context.Context, sides []*side, r ledger.Range) error {
	places := map[chain.TxHash]order.Event{} // one event of each transaction
	for _, s := range sides {
		for _, e := range ledger.Within(s.stored, r) {
			places[e.At.Tx] = e
		}
	}
	sorted := slices.SortedFunc(maps.Values(places), func(x, y order.Event) int { return x.At.Compare(&y.At) })
	for part := range slices.Chunk(sorted, receiptsAtOnce) {
		found := each(part, func(e order.Event) (events heard[order.Evidence]) {
			events.got, events.err = a.Source.EventsIn(ctx, e.At.Tx)
			return events
		})
		for i, e := range part {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := found[i].err; err != nil && !errors.Is(err, order.ErrNotFound) {
				a.audit.Unchecked = append(a.audit.Unchecked, Unchecked{e.Order, err})
				continue
			}
			if err := a.compareTransaction(ctx, e, found[i].got, r); err != nil {
				return err
			}
		}
		a.audit.Transactions += uint64(len(part))
	}
	return nil
}

// compareTransaction compares the stored events of a transaction, including those of other orders, with its own. If
// they differ, it compares with the events that the chain's endpoints agree on.
func (a *auditor) compareTransaction(ctx context.Context, of order.Event, read order.Evidence, r ledger.Range) error {
	stored, err := a.Ledger.EventsBetween(ctx, a.ID, ledger.Range{From: of.At.Block, To: of.At.Block})
	if err != nil {
		return err
	}
	stored, _ = ledger.Parted(stored)
	stored = slices.DeleteFunc(stored, func(e order.Event) bool { return e.At.Tx != of.At.Tx })
	differing := func() ledger.Correction {
		found, _ := ledger.Parted(ledger.Within(read.Events, r))
		return ledger.Correct(stored, found)
	}
	c := differing()
	if !c.IsEmpty() && read.Confirm != nil {
		read = order.Agreed(ctx, a.Source, read)
		a.Blame(ctx, read.Wrong)
		c = differing()
	}
	if !c.IsEmpty() && read.Standing == order.Single && !a.isAlone {
		a.audit.Unchecked = append(a.audit.Unchecked, Unchecked{of.Order, proof.ErrOneWord})
		return nil
	}
	a.differ(c.Missing, c.Wrong)
	return nil
}

// differ records events that only the chain (missing) or only the store (wrong) has.
func (a *auditor) differ(missing, wrong []order.Event) {
	for _, e := range missing {
		d := a.difference(e.Order)
		d.Missing = ledger.WithEvent(d.Missing, e)
	}
	for _, e := range wrong {
		d := a.difference(e.Order)
		d.False = ledger.WithEvent(d.False, e)
	}
}

func (a *auditor) difference(id order.ID) *Difference {
	d := a.found[id]
	if d == nil {
		d = &Difference{Order: id}
		a.found[id] = d
	}
	return d
}
