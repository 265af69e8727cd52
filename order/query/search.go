package query

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
	// coveredPatience is after how long, and how often from then on, a search looks whether the index has read all that
	// the chains had which have not answered when they were asked.
	coveredPatience = 500 * time.Millisecond
	// coveredAge is how long ago the index may have had everything of a chain that is not asked, for lack of calls.
	coveredAge = time.Second
	// longestRefusal is for how long a chain is not asked after it had no calls left: requests in the meantime would
	// only take the rest of the others' calls.
	longestRefusal = 5 * time.Second
)

// BusyError says that chains are not searched, and when to try again: too many searches are under way, or a chain has
// no calls left for them.
type BusyError struct{ After time.Duration }

func (e *BusyError) Error() string {
	return fmt.Sprintf("too many searches of the chains; retry after %s", e.After.Round(time.Millisecond))
}

// ErrUnasked is an order.ErrNotFound that rests on the index, which has everything of the chains that did not say
// whether they know the transaction: as of the question, or of coveredAge before it where a chain has no calls left.
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
	holds   holds
	began   time.Time
	isKnown bool    // a chain has the transaction, and nothing that is wanted in it
	skipped bool    // a chain was not asked, or not waited for
	failed  []reply // of chains that were asked in vain

	unheard []chain.ID // guarded by the mutex of searches; only the search itself changes it
}

// holds reports whether the store has everything that a chain had at a moment, from its beginning on.
type holds func(id chain.ID, at time.Time) bool

// begin adds a search and returns the chains to ask, *BusyError when one cannot be asked, unless the store had all of
// it until just now.
func (s *searches) begin(one *search, recent []chain.ID) (asked []chain.ID, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.running) >= mostSearches {
		return nil, &BusyError{time.Second}
	}
	for _, id := range one.unheard {
		switch left := time.Until(s.refused[id]); {
		case left <= 0:
			asked = append(asked, id)
		case !slices.Contains(recent, id):
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
	one.unheard = slices.Clone(asked)
	return asked, nil
}

func (s *searches) end(one *search) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, one)
}

// hears takes note of a chain's reply, which is not that the search is over.
func (s *searches) hears(one *search, r reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.asOf = one.began
	short, isShort := errors.AsType[interface {
		error
		IsShort() bool
		RetryIn() time.Duration
	}](r.err)
	if isShort && short.IsShort() {
		s.refused[r.chain] = time.Now().Add(min(short.RetryIn(), longestRefusal))
		r.asOf = one.began.Add(-coveredAge)
	} else {
		delete(s.refused, r.chain)
	}
	one.unheard = slices.DeleteFunc(one.unheard, func(id chain.ID) bool { return id == r.chain })
	switch {
	case r.err == nil:
		one.isKnown = true
	case !errors.Is(r.err, order.ErrNotFound):
		one.failed = append(one.failed, r)
	}
}

// Late returns why an answer takes long, as far as that is known: ErrUnavailable while the store does not answer,
// *UnheardError with the chains, ascending, that searches for a transaction which are under way have yet to hear, or
// ErrUnavailable while the store is slow.
func (x *Index) Late(tx chain.TxHash) error {
	if away := x.DB.Available(); away != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, away)
	}
	x.searches.mu.Lock()
	defer x.searches.mu.Unlock()
	var unheard []chain.ID
	for one := range x.searches.running {
		if one.tx == tx {
			unheard = append(unheard, one.unheard...)
		}
	}
	switch {
	case len(unheard) > 0:
		slices.Sort(unheard)
		return &UnheardError{UnreachableError{slices.Compact(unheard), context.DeadlineExceeded}}
	case x.DB.IsSlow():
		return ErrUnavailable
	}
	return nil
}

// holds is for events of orders.
func (x *Index) holds(id chain.ID, at time.Time) bool {
	f := x.Of(id)
	return f.Covers(0) && !f.Basis().Level.Before(at)
}

// search asks chains for a transaction, all at once, and returns what the first reads that has events that are wanted:
// none when it exists without. order.ErrNotFound when no chain knows the transaction; ErrUnasked with it when chains
// did not answer whose history the store has by now, so that it has to be read again; *UnheardError when others
// did not, *BusyError, or the error of Options.Search. done ends the search: it is to be called when its results are
// read as well.
func (x *Index) search(
	ctx context.Context, tx chain.TxHash, among []chain.ID, holds holds, wanted func([]order.Event) bool,
) (read order.Evidence, done func(), err error) {
	ctx, span := tracer().Start(ctx, "order.trace", trace.WithAttributes(attribute.Int("crossgate.chains", len(among))))
	defer func() { endSpan(span, err) }()
	one := &search{tx: tx, wanted: wanted, holds: holds, began: time.Now(), unheard: slices.Clone(among)}
	isStale := func(id chain.ID) bool { return !holds(id, one.began.Add(-coveredAge)) }
	recent := slices.DeleteFunc(slices.Clone(among), isStale)
	asked, err := x.searches.begin(one, recent)
	switch {
	case err != nil && len(recent) == len(among):
		return read, func() {}, errUnasked
	case err != nil:
		return read, func() {}, err
	}
	done = func() { x.searches.end(one) }
	if x.Search != nil {
		if ctx, err = x.Search(ctx); err != nil {
			return read, done, err
		}
	}
	found, isFound := x.race(ctx, one, asked)
	var failed UnheardError
	for _, r := range one.failed {
		if one.skipped = true; !holds(r.chain, r.asOf) {
			failed.add(r.chain, r.err)
		}
	}
	switch {
	case isFound:
		span.SetAttributes(attribute.Int64("crossgate.chain.id", int64(found.chain)))
		return found.read, done, nil
	case callerLeft(ctx):
		err = ctx.Err()
	case one.isKnown: // by one chain, and so by no other
	case len(failed.Chains) > 0:
		slices.Sort(failed.Chains)
		err = &failed
	case one.skipped:
		err = errUnasked
	default:
		err = order.ErrNotFound
	}
	return read, done, err
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
			read, err := x.Source(id).EventsIn(ctx, one.tx)
			replies <- reply{id, read, err, time.Time{}}
		})
	}
	patience := time.NewTicker(coveredPatience)
	defer patience.Stop()
	isMissing := func(id chain.ID) bool { return !one.holds(id, one.began) }
	for len(one.unheard) > 0 {
		select {
		case r := <-replies:
			if r.err == nil && one.wanted(r.read.Events) {
				return r, true
			}
			x.searches.hears(one, r)
		case <-patience.C:
			if !slices.ContainsFunc(one.unheard, isMissing) {
				one.skipped = true
				return reply{}, false
			}
		}
	}
	return reply{}, false
}

// reply is what one chain says of a transaction.
type reply struct {
	chain chain.ID
	read  order.Evidence
	err   error
	asOf  time.Time // as of when the store must have everything of the chain, since it failed
}

// callerLeft reports whether the caller has left, which says nothing about the chains. A deadline that has passed
// says that they did not answer.
func callerLeft(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }

// candidates lists the chains on which a transaction can have this hash.
func (x *Index) candidates(tx chain.TxHash) []chain.ID {
	families := tx.Families()
	var ids []chain.ID
	for _, f := range x.Followers {
		if slices.Contains(families, x.Chains.Options.Chains.Family(f.ID)) {
			ids = append(ids, f.ID)
		}
	}
	return ids
}
