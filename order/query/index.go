// Package query finds the orders of a transaction, their history, and a taker's locked assets. It
// reads the ledger, and the chains themselves for whatever the ledger lacks.
//
// Find reads the ledger, asks all chains that could know the transaction if the ledger does not (trace), and completes
// each order from the histories of its two chains unless their followers are level (complete). Locked reads only the
// ledger, and asks give chains to confirm uncertain locks (confirm). While a chain is in doubt because a head does not
// descend from the blocks that were read, Find asks the chain and Locked waits. Every answer has an order.Basis.
package query

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"crossgate/cache/recent"
	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/follow"
	"crossgate/order/ledger"
)

// Index knows every order on the followed chains since following began, and finds older ones on the chains.
type Index struct {
	*follow.Chains
	Options
	store     ledger.Ledger // each statement that reads is limited to statementLimit
	lists     ledger.Ledger // for lists and statistics, limited to listLimit
	searches  searches
	uncreated recent.Map[order.ID, time.Time] // delivered orders that their give chains did not have then
}

// Time limits of statements that an answer waits for. One that finds an order takes about a millisecond; a list may
// count all orders of a taker.
const (
	statementLimit = time.Second
	listLimit      = 5 * time.Second
)

// Options configure how chains are asked. Zero values mean defaults.
type Options struct {
	Behind time.Duration // lag above which a chain counts as behind and is asked about locks; default 1 min

	// Search is called before chains are asked for a transaction that the index does not have. It returns the context
	// to ask them with, or the reason not to. Nil: the caller's context is used.
	Search func(context.Context) (context.Context, error)
}

// New returns an index over chains.
func New(c *follow.Chains, o Options) *Index {
	o.Behind = cmp.Or(o.Behind, time.Minute)
	return &Index{
		Chains: c, Options: o,
		store: ledger.Ledger{DB: c.DB.Within(statementLimit)}, lists: ledger.Ledger{DB: c.DB.Within(listLimit)},
		uncreated: recent.Map[order.ID, time.Time]{Limit: mostUncreated},
	}
}

// Found is an order with its basis.
type Found struct {
	*order.Order
	Basis order.Basis
}

// ByID returns an order that the index has seen on either of its chains. Otherwise, since an ID does not reveal which
// chain to ask, it returns order.ErrNotFound with the basis of the search and no order, or ErrEmpty if no chain was
// ever read to its head. It returns ErrUnavailable if the store cannot be read.
func (x *Index) ByID(ctx context.Context, id order.ID) (found Found, err error) {
	ctx, span := tracer().Start(ctx, "order.find", trace.WithAttributes(attribute.Stringer("crossgate.order", id)))
	defer func() { endSpan(span, err) }()
	found.Basis = x.Basis()
	from := provenance{doubted: x.doubted(), stored: true}
	known, err := x.store.OfOrder(ctx, id)
	if err != nil {
		return found, unavailable(ctx, err)
	}
	if _, hasTerms := order.Fold(known); !hasTerms {
		if err := x.stopped(); err != nil {
			return found, err
		}
		return found, fmt.Errorf("find order %s: %w", id, cmp.Or(x.checkBegun(ctx), order.ErrNotFound))
	}
	o, err := x.complete(ctx, known, from)
	if err != nil {
		return found, err
	}
	return x.found(ctx, found.Basis, from, o)[0], nil
}

// Locked returns the locked assets of an unlock authority: the orders that it delivered and was not yet paid for.
// Anyone can deliver on an order that does not exist, so one whose creation the index has not seen counts only if its
// give chain stores it as created. If the index is behind a give chain, that chain is asked whether it has paid. It
// returns *UnreachableError if such a chain did not answer or a reorg dropped blocks that are not withdrawn yet,
// ErrUnavailable if the store cannot be read, and ErrEmpty if no chain was ever read to its head.
func (x *Index) Locked(ctx context.Context, taker chain.Address) ([]order.LockedChain, order.Basis, error) {
	basis := x.Basis()
	if taker.IsAbsent() {
		return nil, basis, nil
	}
	x.AskedWhatIsLocked()
	if err := x.checkReadable(ctx); err != nil {
		return nil, basis, err
	}
	certain, unconfirmed, err := x.store.Locks(ctx, taker)
	if err != nil {
		return nil, basis, unavailable(ctx, err)
	}
	locks, unread, single, err := x.confirm(ctx, certain, unconfirmed)
	for i := range basis.Chains {
		c := &basis.Chains[i]
		c.Unread, c.Single = slices.Contains(unread, c.Chain), c.Single || slices.Contains(single, c.Chain)
	}
	return order.Locked(locks), basis, err
}

// checkReadable returns nil if the store can be read and no chain is in doubt.
func (x *Index) checkReadable(ctx context.Context) error {
	err := x.awaitWithdrawals(ctx)
	if away := x.DB.Available(); away != nil { // then nothing can be withdrawn either
		return unavailable(ctx, away)
	}
	if err != nil {
		return err
	}
	return x.checkBegun(ctx)
}

// ErrUnavailable says that the store cannot be read at the moment, and that only the store has the answer.
var ErrUnavailable = errors.New("order index is not available")

// unavailable wraps an error of the store in ErrUnavailable, unless the caller has left.
func unavailable(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}

// ErrEmpty says that no chain was ever read to its head, so the absence of an order in the store means nothing.
var ErrEmpty = errors.New("no chain has been read to its head so far")

// checkBegun returns ErrEmpty if no chain was ever read to its head: an empty answer would be a guess.
func (x *Index) checkBegun(ctx context.Context) error {
	if len(x.Followers) == 0 || slices.ContainsFunc(x.Followers, func(f *follow.Follower) bool { s := f.State(); return s.Position.WasLevel > 0 || !s.Level.IsZero() }) {
		return nil
	}
	for _, f := range x.Followers { // followers may not have read their checkpoints yet
		position, _, err := x.store.Checkpoint(ctx, f.ID)
		if err != nil {
			return unavailable(ctx, err)
		}
		if position.WasLevel > 0 {
			return nil
		}
	}
	return ErrEmpty
}

// UnreachableError lists chains that could hold the answer but could not be read.
type UnreachableError struct {
	Chains []chain.ID
	Err    error
}

func (e *UnreachableError) Error() string {
	names := make([]string, len(e.Chains))
	for i, id := range e.Chains {
		names[i] = id.String()
	}
	return "chain " + strings.Join(names, ", ") + " did not answer: " + e.Err.Error()
}

func (e *UnreachableError) Unwrap() error { return e.Err }

// stopped returns *UnreachableError if some chains are not read until an operator decides.
func (x *Index) stopped() error {
	var stopped UnreachableError
	for _, f := range x.Followers {
		if cause := f.State().Stopped; cause != nil {
			stopped.add(f.ID, cause)
		}
	}
	if len(stopped.Chains) == 0 {
		return nil
	}
	return &stopped
}

// tracer returns the tracer at the time a span begins, so that it is the configured one.
func tracer() trace.Tracer { return otel.Tracer("crossgate/order") }

// endSpan ends a span; it does not mark expected errors.
func endSpan(span trace.Span, err error) {
	if err != nil && !errors.Is(err, order.ErrNotFound) && !errors.Is(err, order.ErrNoOrder) && !errors.Is(err, order.ErrNoSwap) {
		span.SetStatus(codes.Error, err.Error())
	}
	span.End()
}

// Tellers returns the names of the endpoints that reported a transaction with events in the block with the given hash;
// none if that is not remembered.
func (x *Index) Tellers(id chain.ID, tx chain.TxHash, block chain.Hash) []string {
	source, remembers := x.Source(id).(order.TellerSource)
	if !remembers {
		return nil
	}
	return source.Tellers(tx, block)
}
