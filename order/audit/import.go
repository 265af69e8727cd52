package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/follow"
	"crossgate/order/ledger"
)

// Imported is what importing a taker's orders came to.
type Imported struct {
	Listed     uint64 // orders, each counted once
	Stored     uint64 // of them, that were stored before
	Verified   uint64 // of them, that the chains confirm now
	Foreign    []Foreign
	Unverified []Unchecked
}

// Foreign is a listed order that is not the taker's.
type Foreign struct {
	Order order.ID
	Taker chain.Address // unlock authority; absent before delivery
}

// importAtOnce is how many orders of one give chain are verified at the same time.
const importAtOnce = 8

// Import verifies orders of a taker, which is their unlock authority, on both of their chains, and stores those that
// the chains confirm: they count from then on as if their blocks had been read. Orders that are stored with their
// creation and their fulfilment are not asked for again, so that an import that was stopped goes on with the others.
// What is stored is all that the chains say of an order before their first indexed blocks; what is later the followers
// read, and a chain that was never read begins at its newest final block. Gateways and a backfill may use the database
// meanwhile. report hears of every step by give chain, from several goroutines.
func (b *Books) Import(ctx context.Context, taker chain.Address, ids []order.ID, report func(Progress)) (Imported, error) {
	if err := b.learnAnchors(ctx); err != nil {
		return Imported{}, err
	}
	ids = slices.Clone(ids)
	slices.SortFunc(ids, ledger.CompareIDs)
	ids = slices.Compact(ids)
	m := &importer{
		Books: b, taker: taker, report: report, came: Imported{Listed: uint64(len(ids))},
	}
	unknown, err := m.unstored(ctx, ids)
	if err != nil {
		return m.came, err
	}
	var working sync.WaitGroup
	for give, theirs := range m.locate(ctx, unknown) {
		working.Go(func() { m.verifyAll(ctx, give, theirs) })
	}
	working.Wait()
	slices.SortFunc(m.came.Foreign, func(a, b Foreign) int { return ledger.CompareIDs(a.Order, b.Order) })
	slices.SortFunc(m.came.Unverified, func(a, b Unchecked) int { return ledger.CompareIDs(a.Order, b.Order) })
	return m.came, ctx.Err()
}

// importer verifies orders of one taker.
type importer struct {
	*Books
	taker  chain.Address
	report func(Progress)

	beginning sync.Mutex // held while it is found out where a chain begins

	mu   sync.Mutex
	came Imported
}

// unstored are the orders whose creation or fulfilment is not stored. Where both are, whatever else the chains said is
// stored as well: by the followers, a backfill or an earlier import.
func (m *importer) unstored(ctx context.Context, ids []order.ID) (left []order.ID, err error) {
	for part := range slices.Chunk(ids, idsAtOnce) {
		stored, err := ledger.EventsOfAll(ctx, m.Ledger, part)
		if err != nil {
			return nil, err
		}
		for _, id := range part {
			switch o, hasTerms := order.Fold(stored[id]); {
			case !hasTerms || o.Created == nil || o.Fulfilled == nil:
				left = append(left, id)
			case m.isTakers(o):
				m.came.Stored++
			}
		}
	}
	return left, nil
}

// isTakers reports whether an order is the taker's, and takes note of one that is not.
func (m *importer) isTakers(o *order.Order) bool {
	foreign := Foreign{Order: o.ID}
	if o.Fulfilled != nil {
		foreign.Taker = o.Fulfilled.Fact.UnlockAuthority
	}
	if foreign.Taker == m.taker {
		return true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.came.Foreign = append(m.came.Foreign, foreign)
	return false
}

// failed takes note that an order could not be verified, unless the import was stopped.
func (m *importer) failed(ctx context.Context, id order.ID, err error) {
	if ctx.Err() != nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.came.Unverified = append(m.came.Unverified, Unchecked{id, err})
}

// locate returns orders by their give chains. An id does not say which that is, so every chain is asked whether its
// contracts store it. Orders that none stores are noted.
func (m *importer) locate(ctx context.Context, ids []order.ID) map[chain.ID][]order.ID {
	located, found := map[chain.ID][]order.ID{}, map[order.ID]bool{}
	var silent []error
	given := each(m.Readers, func(r *follow.Reader) (on heard[[]order.ID]) {
		on.got, on.err = givenOn(ctx, r.Source, ids)
		return on
	})
	for i, on := range given {
		id := m.Readers[i].ID
		if on.err != nil {
			silent = append(silent, fmt.Errorf("chain %d: %w", id, on.err))
		}
		for _, stored := range on.got {
			if !found[stored] {
				found[stored] = true
				located[id] = append(located[id], stored)
			}
		}
	}
	unheard := errors.Join(silent...)
	for _, id := range ids {
		switch {
		case found[id]:
		case unheard != nil:
			m.failed(ctx, id, fmt.Errorf("not found on the chains that answered: %w", unheard))
		default:
			m.failed(ctx, id, fmt.Errorf("creation %w on any chain", order.ErrNotFound))
		}
	}
	return located
}

// givenOn are those orders whose give chain a chain says that it is, also beside an error.
func givenOn(ctx context.Context, source order.Source, ids []order.ID) (given []order.ID, err error) {
	reader, can := source.(order.StateReader)
	if !can {
		return nil, nil
	}
	for part := range slices.Chunk(ids, idsAtOnce) {
		states, err := reader.States(ctx, part)
		if err != nil {
			return given, err
		}
		for i, stored := range states {
			if stored.State != order.None {
				given = append(given, part[i])
			}
		}
	}
	return given, nil
}

// verifyAll verifies and stores the orders of one give chain.
func (m *importer) verifyAll(ctx context.Context, give chain.ID, ids []order.ID) {
	progress := Progress{Chain: give, Total: uint64(len(ids))}
	m.report(progress)
	for part := range slices.Chunk(ids, importAtOnce) {
		stored := each(part, func(id order.ID) (events heard[int]) {
			events.got, events.err = m.verify(ctx, give, id)
			return events
		})
		if ctx.Err() != nil {
			return
		}
		for i, id := range part {
			if err := stored[i].err; err != nil {
				m.failed(ctx, id, err)
			}
			progress.Events += uint64(stored[i].got)
		}
		progress.Read += uint64(len(part))
		progress.Done = progress.Read == progress.Total
		m.report(progress)
	}
}

// verify reads what both chains say of an order and stores it, and begins anew when a backfill has read blocks
// meanwhile. It returns how many events were stored.
func (m *importer) verify(ctx context.Context, give chain.ID, id order.ID) (events int, err error) {
	for range repairAttempts {
		if events, err = m.verifyOnce(ctx, give, id); !errors.Is(err, ledger.ErrMoved) {
			break
		}
	}
	return events, err
}

func (m *importer) verifyOnce(ctx context.Context, give chain.ID, id order.ID) (int, error) {
	first := map[chain.ID]uint64{}
	events, err := m.read(ctx, give, &side{id: id, side: order.GiveSide}, first)
	if err != nil {
		return 0, err
	}
	o, created := order.Fold(events)
	if !created || o.Terms.Give.Chain != give {
		return 0, fmt.Errorf("chain %d stores the order and has no event of its creation", give)
	}
	since := order.Since(o)
	taken, err := m.read(ctx, o.Terms.Take.Chain, &side{id: id, side: order.TakeSide, since: since}, first)
	if err != nil {
		return 0, err
	}
	events = append(events, taken...)
	if o, _ = order.Fold(events); !m.isTakers(o) {
		return 0, nil
	}
	early := slices.DeleteFunc(events, func(e order.Event) bool { return e.At.Block >= first[e.At.Chain] })
	if err := m.Ledger.Adopt(ctx, id, first, early); err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.came.Verified++
	return len(early), nil
}

// read returns the events of one side of an order, which have to account for what the contract stores, and notes the
// chain's first indexed block before it asks. The order may move on between the two questions: it asks twice.
func (m *importer) read(ctx context.Context, on chain.ID, s *side, first map[chain.ID]uint64) ([]order.Event, error) {
	readers := m.of(on)
	if len(readers) == 0 {
		return nil, fmt.Errorf("chain %d, which the order names, is not configured", on)
	}
	var err error
	if _, known := first[on]; !known {
		if first[on], err = m.firstBlock(ctx, readers[0]); err != nil {
			return nil, err
		}
	}
	a := &auditor{Reader: readers[0]}
	for range 2 {
		events, err := a.history(ctx, s)
		if err != nil {
			return nil, err
		}
		if err := a.readStates(ctx, s); err != nil {
			return nil, err
		}
		if a.cannotTell(s.side) || s.accountsFor(events) {
			return events, nil
		}
	}
	return nil, fmt.Errorf("chain %d: the contract stores %s, and no event accounts for it", on, s.state.State)
}

// firstBlock is the first block of a chain that is indexed. One that was never read begins at its newest final block.
func (m *importer) firstBlock(ctx context.Context, r *follow.Reader) (uint64, error) {
	m.beginning.Lock()
	defer m.beginning.Unlock()
	position, known, err := m.Ledger.Checkpoint(ctx, r.ID)
	if err == nil && !known {
		position, err = beginAtFinal(ctx, r)
	}
	return position.First, err
}
