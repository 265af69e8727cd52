package quote

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/shopspring/decimal"

	"crossgate/chain"
)

// Lines of costsDetails as the hosted service names them.
const (
	protocolFeeCost  = "SingleChainSwapProtocolFee"
	affiliateFeeCost = "SingleChainSwapAffiliateFee" // not seen in a recorded answer
	slippageCost     = "SingleChainSwapEstimatedSlippage"
)

// outcome is the way from what a venue pays to what the recipient can count on, in smallest units of the
// out token.
type outcome struct {
	gross           chain.Amount
	charges         charges
	operatorFee     chain.Amount // what the operator's share of the input would have brought, beside gross
	protocolFee     chain.Amount // kept by the public router
	affiliateFee    chain.Amount // paid by the public router
	minimum         chain.Amount
	slippagePercent decimal.Decimal
}

// charges are what is taken on the way, in basis points: by the public router out of the gross outcome, by a venue that
// is called directly out of the input, before it swaps.
type charges struct {
	protocolBps, affiliateBps int // of the gross outcome, one after the other
	operatorBps, inputBps     int // of the input: the operator's part, and all
}

func (c charges) ofOutcome() bool { return c.protocolBps > 0 || c.affiliateBps > 0 }

// newOutcome computes as the public router does, and as the hosted service was recorded to do (USDC to ETH,
// 2026-09): the fee is floor(gross × bps), the affiliate's floor((gross − fee) × bps), and the minimum what
// is left of that less floor(gross × slippage). The operator's share of the input is told in the out token, at the
// price of the rest.
func newOutcome(gross chain.Amount, taken charges, slippagePercent decimal.Decimal) outcome {
	o := outcome{gross: gross, charges: taken, slippagePercent: slippagePercent}
	o.operatorFee = gross.MulDiv(uint64(taken.operatorBps), uint64(wholeBps-taken.inputBps))
	o.protocolFee = gross.MulDiv(uint64(taken.protocolBps), wholeBps)
	o.affiliateFee = gross.Sub(o.protocolFee).MulDiv(uint64(taken.affiliateBps), wholeBps)
	o.minimum = o.net().Sub(share(gross, slippagePercent))
	return o
}

// directOutcome is the outcome of calling the venue's own router with tx: nothing is kept on the way back.
func (o offer) directOutcome(s Swap, tx Tx) (outcome, error) {
	promised := o.outcome
	if o.profile.Wraps {
		promised.minimum = promised.gross
		return promised, nil
	}
	if s.Chain.Family == chain.SVM {
		if o.quote.Minimum.Cmp(promised.minimum) < 0 {
			return outcome{}, fmt.Errorf("%w: its minimum is %s instead of %s", ErrRefused, o.quote.Minimum, promised.minimum)
		}
		promised.minimum = o.quote.Minimum
		return promised, nil
	}
	enforced, found := enforcedMinimum(tx.Data, promised)
	if !found {
		return outcome{}, fmt.Errorf("%w: its calldata holds no minimum of about %s", ErrRefused, promised.minimum)
	}
	promised.minimum = enforced
	return promised, nil
}

// Venues round the minimum in their own ways: mostly floor(out × (1 − slippage)), some in floating point,
// some before they take a fee of their own.
const (
	roundingPart   = 1_000_000_000 // the part of the minimum that floating point may lose
	largestOwnFee  = 300           // basis points
	selectorLength = 4             // the part of EVM calldata that names the function
)

// enforcedMinimum is the minimum that calldata enforces, as far as that can be read without knowing the
// function: the computed one where it stands there, else the least number that can be meant for it. One
// unit is given up when that one is larger, since it may be from before a fee.
func enforcedMinimum(data []byte, o outcome) (chain.Amount, bool) {
	const size = 32
	one := chain.NewAmount(1)
	least := o.minimum.Sub(o.minimum.MulDiv(1, roundingPart)).Sub(one).Bytes32()
	most := o.gross.Add(o.gross.MulDiv(largestOwnFee, wholeBps)).Bytes32()
	exact := o.minimum.Bytes32()
	var smallest []byte
	for at := selectorLength; at+size <= len(data); at++ {
		word := data[at : at+size]
		if bytes.Equal(word, exact[:]) {
			return o.minimum, true
		}
		if bytes.Compare(word, least[:]) >= 0 && bytes.Compare(word, most[:]) <= 0 &&
			(smallest == nil || bytes.Compare(word, smallest) < 0) {
			smallest = word
		}
	}
	if smallest == nil {
		return chain.Amount{}, false
	}
	if enforced := chain.AmountFromBytes(smallest); enforced.Cmp(o.minimum) < 0 {
		return enforced, true
	}
	return o.minimum.Sub(one), true
}

// seen is the outcome with the gross amount that a trial showed; the minimum stands in the calldata already.
func (o outcome) seen(f *Finding) outcome {
	if f == nil || !f.Measured {
		return o
	}
	gross := f.Received
	if o.charges.ofOutcome() {
		gross = f.Gross
	}
	minimum := o.minimum
	o = newOutcome(gross, o.charges, o.slippagePercent)
	o.minimum = minimum
	return o
}

// fee is what this way costs beside the venue: the public router's part of the outcome, or the operator's.
func (o outcome) fee() chain.Amount { return o.protocolFee.Add(o.operatorFee) }

func (o outcome) net() chain.Amount { return o.gross.Sub(o.protocolFee).Sub(o.affiliateFee) }

// costs are the lines between the amounts, in the sequence in which they are taken.
func (o outcome) costs() []Cost {
	var costs []Cost
	rest := o.gross.Add(o.operatorFee)
	add := func(kind string, fee chain.Amount, bps string) {
		costs = append(costs, Cost{Type: kind, AmountIn: rest, AmountOut: rest.Sub(fee), Fee: fee, FeeBps: bps})
		rest = rest.Sub(fee)
	}
	if !o.fee().IsZero() {
		add(protocolFeeCost, o.fee(), strconv.Itoa(o.charges.protocolBps+o.charges.operatorBps))
	}
	if !o.affiliateFee.IsZero() {
		add(affiliateFeeCost, o.affiliateFee, strconv.Itoa(o.charges.affiliateBps))
	}
	add(slippageCost, o.net().Sub(o.minimum), o.slippagePercent.Shift(2).String())
	return costs
}

// percentOf returns amount × percent / 100, exactly.
func percentOf(amount chain.Amount, percent decimal.Decimal) decimal.Decimal {
	return decimal.NewFromBigInt(amount.Big(), 0).Mul(percent).Shift(-2)
}

// share returns floor(amount × percent / 100); nothing for percents that make no amount.
func share(amount chain.Amount, percent decimal.Decimal) chain.Amount {
	part, err := chain.AmountFromBig(percentOf(amount, percent).Floor().BigInt())
	if err != nil {
		return chain.Amount{}
	}
	return part
}
