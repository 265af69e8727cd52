package query

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/ledger"
	"crossgate/store"
)

// FoundSwap is a swap with its basis.
type FoundSwap struct {
	order.Swap
	Basis order.Basis
}

// FindSwaps returns the swaps that a transaction made within its chain, at least one, in log order, and the basis of
// the search, even with an error. It reads the store, and the chain if the store has none or is in doubt. It returns
// order.ErrNotFound if the chain does not know the transaction or is not followed, order.ErrNoSwap if the transaction
// made none, *UnreachableError if the chain must be asked and does not answer; ErrUnasked, *BusyError and
// ErrUnavailable as in Find.
func (x *Index) FindSwaps(ctx context.Context, id chain.ID, tx chain.TxHash) (found []FoundSwap, searched order.Basis, err error) {
	ctx, span := tracer().Start(ctx, "swap.find", trace.WithAttributes(
		attribute.Int64("crossgate.chain.id", int64(id)), attribute.Stringer("crossgate.swap.transaction", tx)))
	defer func() { endSpan(span, err) }()
	searched = x.Basis()
	searched.All, searched.Chains = false, []order.ChainBasis{searched.Of(id)}
	if x.Source(id) == nil || !slices.Contains(tx.Families(), x.Chains.Options.Chains.Family(id)) {
		return nil, searched, fmt.Errorf("find swaps in %s: %w on chain %d", tx, order.ErrNotFound, id)
	}
	isInDoubt := x.doubted()[id]
	swaps, storeErr := x.store.SwapsIn(ctx, id, tx)
	if storeErr != nil && !errors.Is(storeErr, store.ErrUnavailable) {
		x.Logger.WarnContext(ctx, "index unavailable; reading swaps from their chain", "chain", id, "error", storeErr)
	}
	span.SetAttributes(attribute.Bool("crossgate.swap.indexed", len(swaps) > 0))
	isSingle := false
	if len(swaps) == 0 || isInDoubt {
		var done func()
		swaps, isSingle, done, err = x.traceSwaps(ctx, id, tx, storeErr)
		defer done()
		if errors.Is(err, ErrUnasked) {
			swaps, storeErr = x.store.SwapsIn(ctx, id, tx)
			err = withStore(ctx, err, storeErr)
		}
		if err != nil && len(swaps) == 0 {
			return nil, searched, fmt.Errorf("find swaps in %s: %w", tx, err)
		}
	}
	found = x.foundSwaps(ctx, searched, storeErr == nil, swaps...)
	for _, each := range found {
		each.Basis.Chains[0].Single = each.Basis.Chains[0].Single || isSingle
	}
	return found, searched, nil
}

// traceSwaps searches a chain for a transaction's swaps; isSingle says that they rest on a single endpoint. See search
// for done and the errors.
func (x *Index) traceSwaps(
	ctx context.Context, id chain.ID, tx chain.TxHash, storeErr error,
) (swaps []order.Swap, isSingle bool, done func(), err error) {
	read, done, err := x.search(ctx, tx, []chain.ID{id}, func(events []order.Event) bool {
		_, swaps := ledger.Parted(events)
		return len(swaps) > 0
	})
	if read.Confirm != nil {
		read = x.agreed(ctx, id, read)
		isSingle = read.Standing == order.Single
	}
	if _, swaps = ledger.Parted(read.Events); err == nil && len(swaps) == 0 {
		err = order.ErrNoSwap
	}
	return swaps, isSingle, done, withStore(ctx, err, storeErr)
}

// SwapByID returns a swap that the index has seen. Otherwise, since an ID does not reveal which chain to ask, it
// returns order.ErrNotFound with the basis of the search. It returns ErrUnavailable if the store cannot be read.
func (x *Index) SwapByID(ctx context.Context, id order.ID) (found FoundSwap, err error) {
	ctx, span := tracer().Start(ctx, "swap.find", trace.WithAttributes(attribute.Stringer("crossgate.swap", id)))
	defer func() { endSpan(span, err) }()
	found.Basis = x.Basis()
	doubted := x.doubted()
	swaps, err := x.store.SwapsByID(ctx, []order.ID{id})
	if err != nil {
		return found, unavailable(ctx, err)
	}
	known := swaps[id]
	if known == nil {
		return found, fmt.Errorf("find swap %s: %w", id, cmp.Or(x.checkBegun(ctx), order.ErrNotFound))
	}
	if !doubted[known.At.Chain] {
		return x.foundSwaps(ctx, found.Basis, true, *known)[0], nil
	}
	again, searched, err := x.FindSwaps(ctx, known.At.Chain, known.At.Tx)
	if at := slices.IndexFunc(again, func(s FoundSwap) bool { return s.ID == id }); at >= 0 {
		return again[at], nil
	}
	if err == nil {
		err = fmt.Errorf("find swap %s: dropped by a reorg: %w", id, order.ErrNotFound)
	}
	return FoundSwap{Basis: searched}, err
}

// foundSwaps gives swaps that were read on a basis their part of it: their chain.
func (x *Index) foundSwaps(ctx context.Context, on order.Basis, isStored bool, swaps ...order.Swap) []FoundSwap {
	var places []order.At
	for _, s := range swaps {
		if isStored {
			places = append(places, s.At)
		}
	}
	found, kept := make([]FoundSwap, len(swaps)), x.keptAt(ctx, places...)
	for i, s := range swaps {
		x.AskedAbout(s.At.Chain)
		found[i] = FoundSwap{s, x.placed(on, s.At, kept)}
	}
	return found
}
