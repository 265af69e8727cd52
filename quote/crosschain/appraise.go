package crosschain

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"sync"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/creation"
	"crossgate/quote"
	"crossgate/token"
)

// Appraise returns warnings about an order that can be made but not filled at a profit, delivered or refunded, or that
// takes far too little, as far as prices, costs and accounts can be read.
func (e *Estimator) Appraise(ctx context.Context, t order.Terms) (all []creation.Warning) {
	warn := func(code creation.WarningCode, format string, values ...any) {
		all = append(all, creation.Warning{Code: code, Text: fmt.Sprintf(format, values...)})
	}
	gives, takes, expenses, err := e.worths(ctx, t)
	left, most := new(big.Rat).Sub(gives, takes), big.NewRat(1, 10) // of its worth, that a taker may get besides his costs
	switch {
	case err != nil:
	case left.Cmp(expenses) < 0:
		warn(creation.TakerNotPaid, "the order gives %s USD more than it takes, less than the %s USD that filling it costs: takers will leave it",
			left.FloatString(4), expenses.FloatString(4))
	case new(big.Rat).Sub(left, expenses).Cmp(most.Mul(most, gives)) > 0:
		warn(creation.TakesLittle, "the order gives %s USD and takes %s USD: any taker may keep the difference", gives.FloatString(4), takes.FloatString(4))
	}
	take, _ := e.Registry.Chain(t.Take.Chain)
	if executor := creation.CallReceiver(take, t.ExternalCall); !executor.IsAbsent() && t.Receiver != executor {
		warn(creation.CallNeverRun, "the receiver of an order with an external call must be the executor %s: the order can never be filled", executor)
	}
	undelivered, unrefunded := e.refusals(ctx, t)
	switch {
	case errors.Is(undelivered, ErrNotDelivered):
		warn(creation.NotDelivered, "%v", undelivered)
	case undelivered != nil:
		warn(creation.ReceiverRefuses, "%v", undelivered)
	}
	if unrefunded != nil {
		warn(creation.BeneficiaryRefuses, "%v", unrefunded)
	}
	return all
}

// worths returns the worth of what an order gives and takes, and the cost of its taker's work, in USD at current
// prices. A taker has to swap unless the take token is a reserve token. ErrUnknownCosts: a fee, a price or a token's
// decimals are missing. An external call's gas is unknown and left out.
func (e *Estimator) worths(ctx context.Context, t order.Terms) (gives, takes, expenses *big.Rat, err error) {
	var worth [2]big.Rat
	gives, takes = &worth[0], &worth[1]
	give, isKnown := e.Registry.Chain(t.Give.Chain)
	take, takeIsKnown := e.Registry.Chain(t.Take.Chain)
	if !isKnown || !takeIsKnown {
		return gives, takes, nil, fmt.Errorf("%w: chain %d or %d is not read", ErrUnknownCosts, t.Give.Chain, t.Take.Chain)
	}
	w := work{give: give, take: take, takesCoin: t.Take.Token.IsNative()}
	w.swaps = !slices.Contains(slices.Collect(maps.Values(take.Reserves)), t.Take.Token)
	usd := e.Tokens.USD(ctx, coinOf(give), coinOf(take), keyOf(t.Give), keyOf(t.Take))
	costs, err := e.expenses(ctx, w, func() map[token.Key]*big.Rat { return usd })
	if err != nil {
		return gives, takes, nil, err
	}
	for i, each := range []order.Offer{t.Give, t.Take} {
		found, err := e.Tokens.Lookup(ctx, each.Chain, each.Token)
		price := usd[keyOf(each)]
		if err != nil || price == nil || e.Tokens.IsSilent(keyOf(each)) {
			return gives, takes, nil, fmt.Errorf("%w: no price or decimals of %s", ErrUnknownCosts, each.Token)
		}
		worth[i].Mul(each.Amount.Units(found[0].Decimals), price)
	}
	return gives, takes, costs.USD(), nil
}

func keyOf(o order.Offer) token.Key { return token.Key{Chain: o.Chain, Address: o.Token} }

// Refundable returns creation.ErrNoPayee if the account that gets a cancelled order's refund refuses the coin.
func (e *Estimator) Refundable(ctx context.Context, t order.Terms) error {
	return e.refuses(ctx, t.Give.Chain, creation.Beneficiary(t), creation.ErrNoPayee)
}

// refusals returns ErrRefusesCoin if an order's receiver is paid in the coin and refuses it, ErrNotDelivered if it, or
// the contract that makes the order's call, does not get the token in full, and ErrNotRefundable if the cancel
// beneficiary refuses the coin, each with the reason.
func (e *Estimator) refusals(ctx context.Context, t order.Terms) (undelivered, unrefunded error) {
	var trying sync.WaitGroup
	to := t.Receiver
	if len(t.ExternalCall) > 0 {
		take, _ := e.Registry.Chain(t.Take.Chain)
		to = take.Contracts.ExternalCallAdapter
	}
	switch delivers := e.Chains[t.Take.Chain].Delivers; {
	case t.Take.Token.IsNative() && len(t.ExternalCall) == 0:
		trying.Go(func() { undelivered = e.refuses(ctx, t.Take.Chain, to, ErrRefusesCoin) })
	case !t.Take.Token.IsNative() && !to.IsAbsent() && delivers != nil:
		trying.Go(func() {
			if err := delivers(ctx, t.Take.Token, to, t.Take.Amount); err != nil {
				undelivered = fmt.Errorf("%w: %v", ErrNotDelivered, err)
			}
		})
	}
	trying.Go(func() { unrefunded = e.refuses(ctx, t.Give.Chain, t.Authorities.CancelBeneficiary, ErrNotRefundable) })
	trying.Wait()
	return undelivered, unrefunded
}

// refuses returns an error wrapping meaning if an account refuses the coin, nil if it accepts it or cannot be tried.
// The wrapped coin's contract is the sender of the trial, since it has some.
func (e *Estimator) refuses(ctx context.Context, at chain.ID, payee chain.Address, meaning error) error {
	fees := e.Chains[at].Fees
	c, _ := e.Registry.Chain(at)
	if c.Family == chain.SVM || c.WrappedCoin.IsAbsent() || payee.IsAbsent() || fees == nil {
		return nil
	}
	_, err := fees.EstimateGas(ctx, c.WrappedCoin, quote.Tx{To: payee, Value: chain.NewAmount(1)})
	if !errors.Is(err, quote.ErrReverted) {
		return nil
	}
	return fmt.Errorf("%w: %v", meaning, err)
}
