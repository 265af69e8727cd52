package proxy

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/index"
	"crossgate/quote"
	"crossgate/upstream"
)

// answersOfDomain are the errors by which the domain answers a question, with what they come to.
var answersOfDomain = []struct {
	err  error
	kind kind
}{
	{order.ErrNoOrder, txWithoutOrder},
	{order.ErrNotFound, unknownTx},
	{index.ErrUnavailable, indexUnavailable},
	{index.ErrEmpty, indexEmpty},
	{cache.ErrBusy, overloaded},
	{quote.ErrUnsupportedChain, unsupportedChain},
	{quote.ErrUnsupportedTokenIn, unsupportedTokenIn},
	{quote.ErrUnsupportedTokenOut, unsupportedTokenOut},
	{quote.ErrLowBalance, lowAmount},
	{quote.ErrNoRoute, noRoute},
	{quote.ErrReverted, wouldRevert},
}

// problemOf says what an error comes to for the client. What is not known is internal: logged whole, told briefly.
func problemOf(err error) *problem {
	var known *problem
	if errors.As(err, &known) {
		return known
	}
	if errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) && len(upstreamErrors(err)) == 0 {
		return clientLeft.from(err)
	}
	var unreachable *index.UnreachableError
	if errors.As(err, &unreachable) {
		return chainsUnreachable(unreachable).from(err).retryLike(err)
	}
	for _, answer := range answersOfDomain {
		if errors.Is(err, answer.err) {
			return answer.kind.from(err)
		}
	}
	if failures := upstreamErrors(err); len(failures) > 0 {
		return failed(failures).from(err).retryLike(err)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return upstreamTimeout.from(err)
	}
	if errors.Is(err, quote.ErrNoTransaction) || errors.Is(err, quote.ErrRefused) {
		return upstreamFailed.from(err)
	}
	var panicked *cache.PanicError
	if errors.As(err, &panicked) {
		return internalError.from(fmt.Errorf("%w\n%s", err, panicked.Stack))
	}
	return internalError.from(err)
}

// chainsUnreachable names the chains, which the client may know to be down.
func chainsUnreachable(err *index.UnreachableError) kind {
	k := chainUnreachable
	k.text += ": " + joined(err.Chains)
	return k
}

// joined is how texts name several chains.
func joined(chains []chain.ID) string {
	ids := make([]string, len(chains))
	for i, id := range chains {
		ids[i] = id.String()
	}
	return strings.Join(ids, ", ")
}

// retryLike sets the time to come again to what the upstreams within err said.
func (p *problem) retryLike(err error) *problem {
	p.retryAfter = soonest(upstreamErrors(err))
	return p
}

// failed is what the failures of several upstreams come to together: that nobody was asked when nobody
// was, that time ran out when that is all that went wrong, and else that their answers were no use.
func failed(failures []*upstream.Error) kind {
	unavailable, late := 0, 0
	for _, failure := range failures {
		switch failure.Class {
		case upstream.RateLimited, upstream.BreakerOpen, upstream.Unusable:
			unavailable++
		case upstream.Timeout, upstream.Canceled:
			late++
		}
	}
	switch {
	case unavailable == len(failures):
		return upstreamUnavailable
	case unavailable+late == len(failures):
		return upstreamTimeout
	}
	return upstreamFailed
}

// soonest is when the first of the upstreams wants to be asked again; zero when none said.
func soonest(failures []*upstream.Error) time.Duration {
	var least time.Duration
	for _, failure := range failures {
		if after := failure.RetryAfter; after > 0 && (least == 0 || after < least) {
			least = after
		}
	}
	return least
}

// upstreamErrors returns the upstream errors within err, each pool's word for all its endpoints once.
func upstreamErrors(err error) []*upstream.Error {
	switch e := err.(type) {
	case *upstream.Error:
		return []*upstream.Error{e}
	case interface{ Unwrap() error }:
		return upstreamErrors(e.Unwrap())
	case interface{ Unwrap() []error }:
		var all []*upstream.Error
		for _, part := range e.Unwrap() {
			all = append(all, upstreamErrors(part)...)
		}
		return all
	}
	return nil
}
