package crosschain

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/quote"
	"crossgate/token"
)

// ErrLowAmount means that nothing is left for the recipient: the amount is below the expenses of a taker.
var ErrLowAmount = errors.New("amount less than the operating expenses")

// wholeBps is 100 % in basis points.
const wholeBps = 10_000

// MarginBps is a taker's usual share of the net amount (recorded creations of 2024 to 2026).
const MarginBps = 4

// Rules are the shares taken from an amount on its way through an order. Each is rounded down.
type Rules struct {
	ProtocolBps  int             // of the gross amount: DlnSource's globalTransferFeeBps
	Affiliate    decimal.Decimal // percent of what the protocol leaves; until 2025 it was of the gross amount
	IncentiveBps int             // additional share of the net amount for the taker, besides MarginBps
}

// Swapped is the output of a swap before slippage, and the slippage allowed for it.
type Swapped struct {
	Out         chain.Amount
	SlippageBps int
}

// Course traces an amount through an order, in smallest units; the amounts on one line are of the same token.
type Course struct {
	Rules
	Before, After               *Swapped     // into and out of the reserve token; nil: no swap
	In                          chain.Amount // including the prepended cost
	Gross                       chain.Amount // reserve token that the order is created with
	ProtocolFee, AffiliateFee   chain.Amount
	Net                         chain.Amount // given by the order and part of its ID
	Carried                     chain.Amount // Net in units of the other chain's reserve token
	Margin, Expenses            chain.Amount
	Left                        chain.Amount // rest of Carried, spent on the take token
	Recommended, MaxTheoretical chain.Amount // take token
}

// Give follows an input to what a taker has left for the take token. decimals are those of the reserve tokens on the
// source and the destination chain; expenses are in units of the latter. ErrLowAmount: nothing is left.
func (r Rules) Give(in chain.Amount, before *Swapped, decimals [2]uint8, expenses chain.Amount) (Course, error) {
	c := Course{Rules: r, Before: before, In: in, Gross: in}
	if before != nil {
		c.Gross = before.least()
	}
	c.ProtocolFee = c.Gross.MulDiv(uint64(r.ProtocolBps), wholeBps)
	c.AffiliateFee = r.affiliate(c.Gross)
	c.Net = c.Gross.Sub(c.ProtocolFee).Sub(c.AffiliateFee)
	c.Carried = rescaled(c.Net, decimals[0], decimals[1])
	c.Margin, c.Expenses = c.Carried.MulDiv(r.marginBps(), wholeBps), expenses
	if c.Left = c.Carried.Sub(c.Margin).Sub(c.Expenses); c.Left.IsZero() {
		return c, fmt.Errorf("%w: %s of the reserve token arrive, and a taker has costs of %s", ErrLowAmount, c.Carried, c.Margin.Add(c.Expenses))
	}
	return c, nil
}

// Take completes a course with the swap into the take token, nil if that is the reserve token.
func (c Course) Take(after *Swapped) Course {
	c.After, c.Recommended = after, c.Left
	if after != nil {
		c.Recommended = after.least()
	}
	c.MaxTheoretical = c.Recommended
	for _, swap := range []*Swapped{c.After, c.Before} {
		if swap != nil {
			c.MaxTheoretical = c.MaxTheoretical.MulDiv(wholeBps, wholeBps-uint64(swap.SlippageBps))
		}
	}
	return c
}

func (r Rules) marginBps() uint64 { return uint64(MarginBps + r.IncentiveBps) }

func (r Rules) affiliate(gross chain.Amount) chain.Amount {
	return quote.Share(gross.Sub(gross.MulDiv(uint64(r.ProtocolBps), wholeBps)), r.Affiliate)
}

// slippage returns the part of the output that the market may take.
func (s Swapped) slippage() chain.Amount { return s.Out.MulDiv(uint64(s.SlippageBps), wholeBps) }

// least returns the output that can be counted on.
func (s Swapped) least() chain.Amount { return s.Out.Sub(s.slippage()) }

// WithoutReward returns the take amount as it would be without the taker's additional incentive.
func (c Course) WithoutReward() chain.Amount {
	reward := c.Carried.MulDiv(uint64(c.IncentiveBps), wholeBps)
	return c.Left.Add(reward).Over(c.Left).Of(c.Recommended)
}

// Prepended returns the addition to an input in the source chain's reserve token that pays the expenses on the other
// chain, so that they do not reduce the recipient's amount.
func (r Rules) Prepended(expenses chain.Amount, decimals [2]uint8) chain.Amount {
	left := new(big.Int).Mul(big.NewInt(int64(wholeBps-r.ProtocolBps)), big.NewInt(int64(wholeBps-r.marginBps())))
	cost := expenses.Units(decimals[1])
	cost.Mul(cost, big.NewRat(wholeBps*wholeBps, 1)).Quo(cost, new(big.Rat).SetInt(left))
	return unitsOf(cost, decimals[0])
}

// GrossFor returns the least gross amount that leaves a taker wanted for the take token.
func (r Rules) GrossFor(wanted chain.Amount, decimals [2]uint8, expenses chain.Amount) chain.Amount {
	carried := leastWith(wanted.Add(expenses), func(a chain.Amount) chain.Amount { return a.MulDiv(r.marginBps(), wholeBps) })
	net := rescaled(carried, decimals[1], decimals[0])
	if rescaled(net, decimals[0], decimals[1]).Cmp(carried) < 0 {
		net = net.Add(chain.NewAmount(1))
	}
	return leastWith(net, func(a chain.Amount) chain.Amount {
		return a.MulDiv(uint64(r.ProtocolBps), wholeBps).Add(r.affiliate(a))
	})
}

// leastWith returns the least amount that leaves rest after share, which must take less than all of it.
func leastWith(rest chain.Amount, share func(chain.Amount) chain.Amount) chain.Amount {
	for found := rest; ; {
		next := rest.Add(share(found))
		if next.Cmp(found) <= 0 {
			return found
		}
		found = next
	}
}

// rescaled converts an amount to units of other decimals, rounding down.
func rescaled(amount chain.Amount, from, to uint8) chain.Amount {
	return unitsOf(amount.Units(from), to)
}

// unitsOf converts whole tokens to smallest units, rounding down and saturating at the largest amount.
func unitsOf(tokens *big.Rat, decimals uint8) chain.Amount {
	units := new(big.Rat).Quo(tokens, chain.NewAmount(1).Units(decimals))
	amount, err := chain.AmountFromBig(new(big.Int).Quo(units.Num(), units.Denom()))
	if err != nil {
		return chain.MaxAmount
	}
	return amount
}

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
