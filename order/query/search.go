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
	mostSearches = 100
	// coveredPatience is the interval at which a search checks whether the index has read everything that the chains
	// without an answer so far had when they were asked.
	coveredPatience = 500 * time.Millisecond
	// coveredAge is how old the index may be about a chain that is not asked because it has no calls left.
	coveredAge = time.Second
	// longestRefusal limits how long a chain is not asked after it had no calls left. Requests in the meantime would
	// only use up the remaining calls of other chains.
	longestRefusal = 5 * time.Second
)

// BusyError says that chains are not searched, and when to retry: too many searches are in flight, or a chain has no
// calls left for them.
type BusyError struct{ After time.Duration }

func (e *BusyError) Error() string {
	return fmt.Sprintf("too many searches of the chains; retry after %s", e.After.Round(time.Millisecond))
}

// ErrUnasked is an order.ErrNotFound that relies on the index for chains that were not asked or did not answer. The
// index has everything that they had when the search began, or coveredAge earlier if a chain has no calls left.
var ErrUnasked = errors.New("some chains were not asked")

var errUnasked = fmt.Errorf("%w in the index; %w", order.ErrNotFound, ErrUnasked)

// UnheardError lists chains that must answer before a transaction counts as not found.
type UnheardError struct{ UnreachableError }

// Unwrap returns the *UnreachableError.
func (e *UnheardError) Unwrap() error { return &e.UnreachableError }

type searches struct {
	mu      sync.Mutex
	running map[*search]struct{}
	refused map[chain.ID]time.Time // end of the time in which a chain is not asked
}

// search asks chains for a transaction that the index does not have.
type search struct {
	tx      chain.TxHash
	wanted  func([]order.Event) bool
	began   time.Time
	isKnown bool    // a chain has the transaction, but no wanted event in it
	skipped bool    // a chain was not asked, or its answer not awaited
	failed  []reply // from chains that failed

	unheard []chain.ID // chains yet to answer; guarded by searches.mu, changed only by the search itself
}

// begin adds a search and returns the chains to ask. It skips chains that have no calls left if the store was recently
// level with them, as listed in recent; otherwise it returns *BusyError.
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
	for _, id := range asked { // chains that were refused are tried by one search first
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

// hears records a chain's reply, unless it ends the search.
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

// Late returns why an answer takes long, if known: ErrUnavailable while the store does not answer, *UnheardError with
// the chains that running searches for the transaction wait for, ascending, or ErrUnavailable while the store is slow.
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

// holds reports whether the store has everything that a chain had at a given time, back to its first block.
func (x *Index) holds(id chain.ID, at time.Time) bool {
	f := x.Of(id)
	return f.Covers(0) && !f.Basis().Level.Before(at)
}

// search asks chains for a transaction concurrently and returns the first reading with wanted events; none if the
// transaction exists but has no such events. It returns order.ErrNotFound if no chain knows the transaction, with
// ErrUnasked if some did not answer but the store covers them by now, so that it must be read again; *UnheardError if
// others did not answer; *BusyError; or the error of Options.Search. done ends the search. Call it once everything that
// depends on the results is read.
func (x *Index) search(
	ctx context.Context, tx chain.TxHash, among []chain.ID, wanted func([]order.Event) bool,
) (read order.Evidence, done func(), err error) {
	ctx, span := tracer().Start(ctx, "order.trace", trace.WithAttributes(attribute.Int("crossgate.chains", len(among))))
	defer func() { endSpan(span, err) }()
	one := &search{tx: tx, wanted: wanted, began: time.Now(), unheard: slices.Clone(among)}
	isStale := func(id chain.ID) bool { return !x.holds(id, one.began.Add(-coveredAge)) }
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
		if one.skipped = true; !x.holds(r.chain, r.asOf) {
			failed.add(r.chain, r.err)
		}
	}
	switch {
	case isFound:
		span.SetAttributes(attribute.Int64("crossgate.chain.id", int64(found.chain)))
		return found.read, done, nil
	case callerLeft(ctx):
		err = ctx.Err()
	case one.isKnown: // by one chain, and therefore by no other
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

// race returns the first reply with wanted events, if one arrives before all chains that must answer have done so.
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
	isMissing := func(id chain.ID) bool { return !x.holds(id, one.began) }
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

type reply struct {
	chain chain.ID
	read  order.Evidence
	err   error
	asOf  time.Time // if the chain failed, the store must have everything that the chain had by then
}

// callerLeft reports whether the caller has left, which says nothing about the chains. An exceeded deadline, in
// contrast, says that they did not answer.
func callerLeft(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }

// candidates returns the followed chains whose transactions can have such a hash.
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
