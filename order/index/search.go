package index

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"crossgate/chain"
	"crossgate/order"
)

const (
	// mostSearches is how many searches are under way at a time.
	mostSearches = 100
	// coveredPatience is how long a search waits for chains of which the index has everything: they are asked since it
	// does not know transactions that did nothing, nor blocks of the last moment.
	coveredPatience = 500 * time.Millisecond
	// longestRefusal is for how long a chain is not asked after it had no calls left: those that come in the meantime
	// would only take what is left of the others'.
	longestRefusal = 5 * time.Second
)

// BusyError says that chains are not searched, and when to try again: too many searches are under way, or a chain has
// no calls left for them.
type BusyError struct{ After time.Duration }

func (e *BusyError) Error() string {
	return fmt.Sprintf("too many searches of the chains; retry after %s", e.After.Round(time.Millisecond))
}

// ErrUnasked is an order.ErrNotFound that rests on the index: it has everything of the chains, of which some did not
// say whether they know the transaction.
var ErrUnasked = errors.New("some chains were not asked")

var errUnasked = fmt.Errorf("%w in the index; %w", order.ErrNotFound, ErrUnasked)

// UnheardError lists chains that have to be heard before something counts as not found.
type UnheardError struct{ UnreachableError }

// Unwrap makes it an *UnreachableError.
func (e *UnheardError) Unwrap() error { return &e.UnreachableError }

// searches are those under way.
type searches struct {
	mu      sync.Mutex
	running map[*search]struct{}
	refused map[chain.ID]time.Time // until when chains are not asked
}

// search asks chains for a transaction that the index does not have.
type search struct {
	tx      chain.TxHash
	wanted  func([]order.Event) bool
	isKnown bool // a chain has the transaction, and nothing that is wanted in it
	skipped bool // a chain that need not be heard was not
	failed  UnheardError

	unheard []chain.ID // that have to be heard; guarded by the mutex of searches
}

// begin adds a search and returns the chains to ask, *BusyError when those that have to be heard cannot be asked.
func (s *searches) begin(one *search, candidates []chain.ID) (asked []chain.ID, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.running) >= mostSearches {
		return nil, &BusyError{time.Second}
	}
	for _, id := range candidates {
		switch left := time.Until(s.refused[id]); {
		case left <= 0:
			asked = append(asked, id)
		case slices.Contains(one.unheard, id):
			return nil, &BusyError{left}
		default:
			one.skipped = true
		}
	}
	for _, id := range asked { // those that were refused are tried by one search first
		if _, was := s.refused[id]; was {
			s.refused[id] = time.Now().Add(coveredPatience)
		}
	}
	if s.running == nil {
		s.running, s.refused = make(map[*search]struct{}), make(map[chain.ID]time.Time)
	}
	s.running[one] = struct{}{}
	return asked, nil
}

func (s *searches) end(one *search) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, one)
}

// hears takes note of a chain's reply, which is not that the search is over, and returns how many have yet to be heard.
func (s *searches) hears(one *search, r reply) (unheard int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	short, isShort := errors.AsType[interface {
		error
		IsShort() bool
		RetryIn() time.Duration
	}](r.err)
	if isShort && short.IsShort() {
		s.refused[r.chain] = time.Now().Add(min(short.RetryIn(), longestRefusal))
	} else {
		delete(s.refused, r.chain)
	}
	needed := slices.Contains(one.unheard, r.chain)
	one.unheard = slices.DeleteFunc(one.unheard, func(id chain.ID) bool { return id == r.chain })
	switch {
	case r.err == nil:
		one.isKnown = true
	case errors.Is(r.err, order.ErrNotFound):
	case needed:
		one.failed.add(r.chain, r.err)
	default:
		one.skipped = true
	}
	return len(one.unheard)
}

// Unheard returns the chains that searches for a transaction which are under way have yet to hear, ascending.
func (x *Index) Unheard(tx chain.TxHash) (unheard []chain.ID) {
	x.searches.mu.Lock()
	defer x.searches.mu.Unlock()
	for one := range x.searches.running {
		if one.tx == tx {
			unheard = append(unheard, one.unheard...)
		}
	}
	slices.Sort(unheard)
	return slices.Compact(unheard)
}

// covering lists the chains of which the store holds everything from their beginning until just now. It has to be asked
// before the store is read.
func (x *Index) covering() (covered []chain.ID) {
	for _, f := range x.followers {
		if f.covers(0) {
			covered = append(covered, f.chain)
		}
	}
	return covered
}

// search asks chains for a transaction, all at once, and returns the events of the first that has some that are wanted:
// none when it exists without. Of covered chains the index knows that they have nothing that is wanted, up to a moment
// ago, so that they need not be heard. order.ErrNotFound when no chain knows the transaction, and ErrUnasked with it
// when some were not heard; *UnheardError when one was not that has to be, *BusyError, or what Options.Search says.
// done ends the search: it is to be called when what follows from it is read as well.
func (x *Index) search(
	ctx context.Context, tx chain.TxHash, asked, covered []chain.ID, wanted func([]order.Event) bool,
) (events []order.Event, done func(), err error) {
	ctx, span := tracer().Start(ctx, "order.trace", trace.WithAttributes(attribute.Int("crossgate.chains", len(asked))))
	defer func() { endSpan(span, err) }()
	one := &search{tx: tx, wanted: wanted}
	one.unheard = slices.DeleteFunc(slices.Clone(asked), func(id chain.ID) bool { return slices.Contains(covered, id) })
	asked, err = x.searches.begin(one, asked)
	switch {
	case err != nil && len(one.unheard) == 0:
		return nil, func() {}, errUnasked
	case err != nil:
		return nil, func() {}, err
	}
	done = func() { x.searches.end(one) }
	if x.options.Search != nil {
		if ctx, err = x.options.Search(ctx); err != nil {
			return nil, done, err
		}
	}
	found, isFound := x.race(ctx, one, asked)
	slices.Sort(one.failed.Chains)
	switch {
	case isFound:
		span.SetAttributes(attribute.Int64("crossgate.chain.id", int64(found.chain)))
		return found.events, done, nil
	case callerLeft(ctx):
		err = ctx.Err()
	case one.isKnown: // by one chain, and so by no other
	case len(one.failed.Chains) > 0:
		err = &one.failed
	case one.skipped:
		err = errUnasked
	default:
		err = order.ErrNotFound
	}
	return nil, done, err
}

// race returns the first reply with what a search wants, if one comes before all chains are heard that have to be.
func (x *Index) race(ctx context.Context, one *search, asked []chain.ID) (found reply, isFound bool) {
	replies := make(chan reply, len(asked))
	var chains sync.WaitGroup
	defer chains.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, id := range asked {
		chains.Go(func() {
			events, err := x.sources[id].EventsIn(ctx, one.tx)
			replies <- reply{id, events, err}
		})
	}
	patience := time.NewTimer(coveredPatience)
	defer patience.Stop()
	isLate, unheard := false, len(one.unheard)
	for left := len(asked); left > 0 && (unheard > 0 || !isLate); {
		select {
		case r := <-replies:
			left--
			if r.err == nil && one.wanted(r.events) {
				return r, true
			}
			unheard = x.searches.hears(one, r)
		case <-patience.C:
			isLate, one.skipped = true, true
		}
	}
	return reply{}, false
}

// reply is what one chain says of a transaction.
type reply struct {
	chain  chain.ID
	events []order.Event
	err    error
}

// callerLeft reports whether nobody waits any more, which says nothing about the chains. A deadline that has passed
// says that they did not answer.
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
