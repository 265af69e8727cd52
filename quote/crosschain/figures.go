package crosschain

import (
	"math"
	"math/big"

	"crossgate/order"
	"crossgate/quote"
	"crossgate/token"
)

// SlippagePercent returns the slippage of both swaps together.
func (c Course) SlippagePercent() float64 {
	bps := 0
	for _, swap := range []*Swapped{c.Before, c.After} {
		if swap != nil {
			bps += swap.SlippageBps
		}
	}
	return float64(bps) / 100
}

// Delay returns roughly how many seconds a taker needs: one block of the destination chain.
func (e *Estimate) Delay() uint64 {
	return max(uint64(math.Round(e.TakeChain.BlockTime.Seconds())), 1)
}

// MarginClass returns the order's class among those of the index; unknown without the prices of both amounts.
func (e *Estimate) MarginClass() (m order.Margin, known bool) {
	given := quote.USD(e.Prices[e.Route.Give], e.Net, e.GiveToken.Decimals)
	taken := quote.USD(e.Prices[token.Key{Chain: e.TakeChain.ID, Address: e.TokenOut}], e.Amount, e.OutToken.Decimals)
	if given == nil || taken == nil || *given == 0 {
		return 0, false
	}
	return order.MarginOf(*given, *taken), true
}

// PriceImpact returns how much more the output is worth than the input without the prepended cost, in percent.
func (e *Estimate) PriceImpact() (percent float64, known bool) {
	in := e.Prices[token.Key{Chain: e.GiveChain.ID, Address: e.TokenIn}]
	out := e.Prices[token.Key{Chain: e.TakeChain.ID, Address: e.TokenOut}]
	given := e.Course.In.Sub(e.Prepended)
	if in == nil || out == nil || in.Sign() == 0 || given.IsZero() {
		return 0, false
	}
	before := new(big.Rat).Mul(given.Units(e.InToken.Decimals), in)
	after := new(big.Rat).Mul(e.Amount.Units(e.OutToken.Decimals), out)
	percent, _ = after.Sub(after, before).Quo(after, before).Mul(after, big.NewRat(100, 1)).Float64()
	return percent, true
}

// TakerMargin returns what the order leaves a taker after his costs, in the reserve token on the destination chain and
// in basis points of the net amount. It is negative for an order that takes too much.
func (e *Estimate) TakerMargin() (left *big.Int, bps float64) {
	pays := e.Amount.Over(e.Recommended).Of(e.Left)
	left = new(big.Int).Sub(e.Carried.Big(), e.Expenses.Big())
	left.Sub(left, pays.Big())
	bps, _ = new(big.Rat).SetFrac(new(big.Int).Mul(left, big.NewInt(wholeBps)), e.Carried.Big()).Float64()
	return left, math.Round(bps*100) / 100
}
