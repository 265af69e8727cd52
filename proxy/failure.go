package proxy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"crossgate/cache"
	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/creation"
	"crossgate/order/query"
	"crossgate/order/stats"
	"crossgate/proxy/passthrough"
	"crossgate/quote"
	"crossgate/quote/crosschain"
	"crossgate/upstream"
)

// domainErrors maps errors of the domain to their documented kinds.
var domainErrors = []struct {
	err  error
	kind Kind
}{
	{order.ErrNoOrder, TxWithoutOrder},
	{order.ErrNotFound, UnknownTx},
	{query.ErrEmpty, indexEmpty},
	{stats.ErrUncounted, ordersUncounted},
	{cache.ErrBusy, overloaded},
	{crosschain.ErrSameChain, SameChains},
	{crosschain.ErrIntermediary, intermediaryUnknown},
	{quote.ErrNoRouter, swapFirst},
	{crosschain.ErrImpossibleRoute, impossibleRoute},
	{crosschain.ErrNoCreation, noCreation},
	{crosschain.ErrLowAmount, lowGiveAmount},
	{crosschain.ErrUnknownCosts, estimationFailed},
	{crosschain.ErrRefusesCoin, recipientRefuses},
	{crosschain.ErrNotDelivered, notDelivered},
	{crosschain.ErrNotRefundable, notRefundable},
	{crosschain.ErrKeyless, keyless},
	{crosschain.ErrCallsNothing, callsNothing},
	{crosschain.ErrCallNeverRun, callNeverRun},
	{crosschain.ErrLongCall, longCall},
	{crosschain.ErrBelowRent, belowRent},
	{crosschain.ErrTooLarge, tooLarge},
	{crosschain.ErrNotClaimable, notClaimable},
	{quote.ErrUnsupportedChain, unsupportedChain},
	{quote.ErrUnsupportedTokenIn, unsupportedTokenIn},
	{quote.ErrUnsupportedTokenOut, unsupportedTokenOut},
	{quote.ErrLowBalance, lowAmount},
	{quote.ErrNoMinimum, noMinimum},
	{quote.ErrNoPayee, noPayee},
	{quote.ErrSenderLacks, senderLacks},
	{quote.ErrNoAffiliate, noAffiliate},
	{quote.ErrNoRoute, noSwapRoute},
	{quote.ErrReverted, wouldRevert},
	{quote.ErrBelowMinimum, wouldRevert},
	{quote.ErrUnsimulated, unsimulated},
	{creation.ErrOtherFunction, notACreation},
	{creation.ErrFulfilled, orderFulfilled},
	{creation.ErrCancelled, orderCancelled},
	{creation.ErrUnknownCall, callNotKnown},
	{creation.ErrNoCall, callAbsent},
	{creation.ErrCallExecuted, callExecuted},
	{creation.ErrCallNotOpen, callNotOpen},
	{creation.ErrNoPayee, refundLost},
	{creation.ErrNotHere, ChainNotServed},
	{creation.ErrNotOwed, orderNotOwed},
	{creation.ErrNotAlike, ordersNotAlike},
	{passthrough.ErrNoHost, UnknownPath},
	{passthrough.ErrRefused, UnknownPath},
	{passthrough.ErrMethod, methodNotAllowed},
	{passthrough.ErrNotCached, notCached},
	{passthrough.ErrLoop, upstreamFailed},
}

// ProblemOf maps an error to the problem that the client sees. Details of an unknown error go only to the log.
func ProblemOf(err error) *problem {
	if known, is := errors.AsType[*problem](err); is {
		return known
	}
	failures := upstreamErrors(err)
	if errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) && len(failures) == 0 {
		return clientLeft.From(err)
	}
	if errors.Is(err, query.ErrUnavailable) {
		return indexUnavailable.From(err).retryAfterFirst(failures)
	}
	if unreachable, is := errors.AsType[*query.UnreachableError](err); is {
		p := unreachableFrom(err, unreachable.Chains, failures)
		if errors.As(err, new(*query.UnheardError)) {
			p.Unheard = unreachable.Chains
		}
		return p
	}
	if busy, is := errors.AsType[*query.BusyError](err); is {
		p := overloaded.From(err)
		p.message, p.retryAfter = "too many chain searches for unindexed transactions; retry later", busy.After
		return p
	}
	if errors.Is(err, query.ErrUnasked) {
		p := UnknownTx.From(err)
		p.message = "no order of this transaction is indexed, and the index is up to date; retry if it was sent just now"
		return p
	}
	if other, is := errors.AsType[*query.NotCreatedError](err); is {
		p := TxWithoutOrder.From(err)
		p.Orders = other.Orders
		p.message = "the transaction did not create an order; it is a later step of the order at /api/Orders/" + other.Orders[0].String()
		if others := len(other.Orders) - 1; others > 0 {
			p.message += fmt.Sprintf(" and %d others, which /api/Transaction/{hash}/orderIds lists", others)
		}
		return p
	}
	for _, domain := range domainErrors {
		if errors.Is(err, domain.err) {
			return domain.kind.From(err)
		}
	}
	switch {
	case len(failures) > 0:
		return kindOf(failures).From(err).retryAfterFirst(failures)
	case errors.Is(err, context.DeadlineExceeded):
		return upstreamTimeout.From(err)
	case errors.Is(err, quote.ErrNoTransaction), errors.Is(err, quote.ErrRefused):
		p := upstreamFailed.From(err)
		p.message = p.Text + ", or see /v1.0/chain/transaction/explain or, for orders, /v1.0/dln/order/create-tx/explain for what each venue did"
		return p
	}
	return internalError.From(err)
}

// unreachableFrom is the problem of chains that did not answer: overloaded if none was asked, for lack of budget.
func unreachableFrom(err error, chains []chain.ID, failures []*upstream.Error) *problem {
	isAsked := func(failed *upstream.Error) bool { return !upstream.IsShort(failed) }
	if len(failures) == 0 || slices.ContainsFunc(failures, isAsked) {
		p := chainUnreachable.From(err)
		p.message = "no answer from " + named(chains) + ", which may hold the answer; retry later" // the client may know that they are down
		return p.retryAfterFirst(failures)
	}
	p := overloaded.From(err)
	p.message = "no calls left at the moment for " + named(chains) + ", which may hold the answer; retry later"
	for _, failure := range failures {
		p.retryAfter = min(max(p.retryAfter, failure.RetryAfter), longestRetry)
	}
	return p
}

// named formats chains as the subject of a sentence.
func named(chains []chain.ID) string {
	if len(chains) == 1 {
		return "chain " + chains[0].String()
	}
	return "chains " + Joined(chains)
}

// Joined joins chain ids with commas.
func Joined(chains []chain.ID) string {
	ids := make([]string, len(chains))
	for i, id := range chains {
		ids[i] = id.String()
	}
	return strings.Join(ids, ", ")
}

// kindOf summarizes upstream failures: unavailable if no upstream was called at all, timeout if nothing worse than
// timeouts happened, otherwise failed.
func kindOf(failures []*upstream.Error) Kind {
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

// longestRetry caps Retry-After values of upstreams: an endpoint may recover sooner.
const longestRetry = 5 * time.Minute

// retryAfterFirst sets Retry-After to when the first upstream accepts calls again, as far as upstreams say so.
func (p *problem) retryAfterFirst(failures []*upstream.Error) *problem {
	for _, failure := range failures {
		if after := failure.RetryAfter; after > 0 && (p.retryAfter == 0 || after < p.retryAfter) {
			p.retryAfter = after
		}
	}
	p.retryAfter = min(p.retryAfter, longestRetry)
	return p
}

// upstreamErrors returns the upstream errors wrapped in err. A pool's error covers all of its endpoints.
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

// SearchError is an error with the basis that had been searched when it occurred.
type SearchError struct {
	error
	Basis order.Basis
}

// Searched wraps err in a SearchError.
func Searched(err error, basis order.Basis) error { return &SearchError{err, basis} }

func (e *SearchError) Unwrap() error { return e.error }

// IDsOf joins the ids of all chains with commas.
func IDsOf(chains chain.Registry) string {
	all := chains.All()
	ids := make([]chain.ID, len(all))
	for i, c := range all {
		ids[i] = c.ID
	}
	return Joined(ids)
}
