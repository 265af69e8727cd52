package crosschain

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/quote"
	"crossgate/token"
)

// Leg is the swap into or out of a reserve token.
type Leg struct {
	Swapped
	DropBps   int            // price drop from about a tenth of the amount to all of it; -1: unknown
	Estimates quote.Estimate // prices only
}

// venueSlippage is the slippage that venues' own calldata allows, in percent: the contract they pay enforces less.
var venueSlippage = decimal.NewFromInt(3)

// Slippage by price drop, both in basis points, as in the public package legacy-dln-profitability 3.2.0.
var dropSteps = []struct{ below, slippage int }{{3, 5}, {5, 10}, {15, 30}, {50, 100}, {100, 150}, {200, 200}}

const (
	mostSlippage    = 300
	leastSlippage   = 30  // in hosted answers
	closeSlippage   = 5   // between stable coins, or a coin and its wrapped form
	unknownSlippage = 100 // if the price of a tenth is unknown
	closePercent    = 0.1 // recommended by package quote for the pairs of closeSlippage
)

func slippageOf(dropBps int, isClose bool) int {
	least := leastSlippage
	if isClose {
		least = closeSlippage
	}
	if dropBps < 0 {
		return max(unknownSlippage, least)
	}
	for _, step := range dropSteps {
		if dropBps < step.below {
			return max(step.slippage, least)
		}
	}
	return mostSlippage
}

// leg compares a swap on one chain and, concurrently, one of about a tenth of it. onward passes the output to the
// order's creation; nil if a taker swaps for himself, and on Solana.
func (e *Estimator) leg(ctx context.Context, r Request, from token.Key, into chain.Address, amount chain.Amount, onward *quote.Onward) (*Leg, error) {
	asked := quote.Request{
		Chain: from.Chain, TokenIn: from.Address, TokenOut: into, SlippagePercent: &venueSlippage, Priority: r.Priority,
		Onward: onward, Since: r.Since,
	}
	var whole, tenth quote.Estimate
	var err, tenthErr error
	var comparing sync.WaitGroup
	compare := func(amount chain.Amount, to *quote.Estimate, failed *error) {
		asked := asked
		asked.AmountIn = amount
		*to, *failed = e.Swaps.Estimate(ctx, asked)
	}
	part := roughTenth(amount)
	if !part.IsZero() {
		comparing.Go(func() { compare(part, &tenth, &tenthErr) })
	}
	compare(amount, &whole, &err)
	comparing.Wait()
	if err != nil {
		return nil, err
	}
	made := &Leg{Swapped: Swapped{Out: whole.Gross}, DropBps: -1, Estimates: whole}
	if tenthErr == nil && !tenth.Gross.IsZero() {
		least := amount.Over(part).Of(tenth.Gross)
		drop, _ := least.Sub(whole.Gross).Over(least).Of(chain.NewAmount(wholeBps)).Uint64()
		made.DropBps = int(drop)
	}
	made.SlippageBps = slippageOf(made.DropBps, whole.RecommendedSlippage <= closePercent)
	return made, nil
}

// roughTenth returns a tenth of an amount, rounded down to one digit so that similar amounts share its comparison.
func roughTenth(amount chain.Amount) chain.Amount {
	step := chain.NewAmount(1)
	for part := amount.MulDiv(1, 100); !part.IsZero(); part = part.MulDiv(1, 10) {
		step = step.MulDiv(10, 1)
	}
	digit, _ := amount.MulDiv(1, 10).Over(step).Of(chain.NewAmount(1)).Uint64()
	return step.MulDiv(digit, 1)
}

// before compares the swap into the reserve token, which goes to the order contract.
func (e *Estimator) before(ctx context.Context, r Request, route Route, in chain.Amount) (*Leg, error) {
	if !route.SwapsBefore() {
		return nil, nil
	}
	give, _ := e.Registry.Chain(route.Give.Chain)
	onward := &quote.Onward{Target: give.Contracts.DlnSource}
	if give.Family == chain.SVM { // here the order is an instruction of the same transaction
		onward = nil
	}
	leg, err := e.leg(ctx, r, token.Key{Chain: route.Give.Chain, Address: route.TokenIn}, route.Give.Address, in, onward)
	if err == nil {
		leg.Out = leg.Estimates.Out.Amount // less the operator's share, which is paid on Solana
	}
	return leg, legError("source", err, quote.ErrUnsupportedTokenOut)
}

// after compares the swap out of the reserve token that the taker is expected to make.
func (e *Estimator) after(ctx context.Context, r Request, route Route, left chain.Amount) (*Leg, error) {
	if !route.SwapsAfter() {
		return nil, nil
	}
	leg, err := e.leg(ctx, r, route.Take, route.TokenOut, left, nil)
	return leg, legError("destination", err, quote.ErrUnsupportedTokenIn)
}

// legError adds on which chain a swap failed. notClients is an error that blames the reserve token, which the client
// did not choose.
func legError(side string, err, notClients error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, quote.ErrNoRouter):
		return fmt.Errorf("%w: on the %s chain: %w", ErrImpossibleRoute, side, err)
	case errors.Is(err, quote.ErrNoRoute), errors.Is(err, quote.ErrUnsupportedChain), errors.Is(err, notClients):
		return fmt.Errorf("%w: on the %s chain: %v", ErrImpossibleRoute, side, err)
	}
	return fmt.Errorf("swap on the %s chain: %w", side, err)
}
