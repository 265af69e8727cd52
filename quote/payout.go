package quote

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

	"crossgate/chain"
)

// Lines of costsDetails as the hosted service names them.
const (
	protocolFeeCost  = "SingleChainSwapProtocolFee"
	affiliateFeeCost = "SingleChainSwapAffiliateFee" // not seen in a recorded answer
	slippageCost     = "SingleChainSwapEstimatedSlippage"
)

// payout leads from what a venue pays to what the recipient can count on, in smallest units of the out token.
type payout struct {
	gross           chain.Amount
	charges         charges
	operatorFee     chain.Amount // what the operator's share of the input would have paid, in addition to gross
	protocolFee     chain.Amount // kept by the public router
	affiliateFee    chain.Amount // paid by the public router
	minimum         chain.Amount
	slippagePercent decimal.Decimal
}

// charges are shares taken on the way: by the public router from the gross payout, by a direct venue from the input.
type charges struct {
	protocolBps, affiliateBps int // of the gross payout, one after the other
	operatorBps               int // of the input
	inputParts                int // all shares of the input, in thousandths of a percent
}

func (c charges) ofOutput() bool { return c.protocolBps > 0 || c.affiliateBps > 0 }

// newPayout computes like the public router and the hosted service: fee = floor(gross × bps), the affiliate's =
// floor((gross − fee) × bps), minimum = rest − floor(gross × slippage).
func newPayout(gross chain.Amount, taken charges, slippagePercent decimal.Decimal) payout {
	p := payout{gross: gross, charges: taken, slippagePercent: slippagePercent}
	p.operatorFee = gross.MulDiv(uint64(10*taken.operatorBps), uint64(10*wholeBps-taken.inputParts))
	p.protocolFee = gross.MulDiv(uint64(taken.protocolBps), wholeBps)
	p.affiliateFee = gross.Sub(p.protocolFee).MulDiv(uint64(taken.affiliateBps), wholeBps)
	p.minimum = p.net().Sub(Share(gross, slippagePercent))
	return p
}

// seen returns the payout for a simulated gross amount, if known. The minimum stays as the transaction has it.
func (p payout) seen(r *Result) payout {
	if r == nil || !r.Measured || p.charges.ofOutput() && r.Gross.IsZero() {
		return p
	}
	gross := r.Received
	if p.charges.ofOutput() {
		gross = r.Gross
	}
	seen := newPayout(gross, p.charges, p.slippagePercent)
	seen.minimum = p.minimum
	return seen
}

// charges returns a way's shares. The operator gets none of a routed swap, because the router takes its own fee.
func (t *trade) charges(w Way) charges {
	affiliate, operator := t.swap.Affiliate.bps(), t.chain.Operator.bps()
	if t.request.Onward != nil {
		return charges{}
	}
	if w == Routed {
		return charges{protocolBps: t.router.terms.FeeBps, affiliateBps: affiliate}
	}
	return charges{operatorBps: operator, inputParts: 10*operator + int(t.swap.Affiliate.Percent.Shift(3).IntPart())}
}

// fee returns the public router's share of the payout, or the operator's.
func (p payout) fee() chain.Amount { return p.protocolFee.Add(p.operatorFee) }

func (p payout) net() chain.Amount { return p.gross.Sub(p.protocolFee).Sub(p.affiliateFee) }

// whole returns the venue's payout before any share is taken, including the operator's.
func (p payout) whole() chain.Amount { return p.gross.Add(p.operatorFee) }

// costs returns the cost lines between the amounts, in the sequence in which they are taken.
func (p payout) costs() []Cost {
	var costs []Cost
	rest := p.whole()
	add := func(kind string, fee chain.Amount, bps string) {
		costs = append(costs, Cost{Type: kind, AmountIn: rest, AmountOut: rest.Sub(fee), Fee: fee, FeeBps: bps})
		rest = rest.Sub(fee)
	}
	if !p.fee().IsZero() {
		add(protocolFeeCost, p.fee(), strconv.Itoa(p.charges.protocolBps+p.charges.operatorBps))
	}
	if !p.affiliateFee.IsZero() {
		add(affiliateFeeCost, p.affiliateFee, strconv.Itoa(p.charges.affiliateBps))
	}
	add(slippageCost, p.net().Sub(p.minimum), p.slippagePercent.Shift(2).String())
	return costs
}

// Share returns floor(amount × percent / 100), saturating at the largest amount; zero for negative percents.
func Share(amount chain.Amount, percent decimal.Decimal) chain.Amount {
	const most = 18 // digits that fit 64 bits
	if places := 2 - int(percent.Exponent()); 0 <= places && places <= most && percent.NumDigits() <= most && percent.Sign() > 0 {
		return amount.MulDiv(uint64(percent.CoefficientInt64()), uint64(math.Pow10(places)))
	}
	return chain.NewRatio(percent.Coefficient(), one, int(percent.Exponent())-2).Of(amount)
}

var one = big.NewInt(1)

// ParsePercent parses digits with at most one point; the decimal package alone would also expand any exponent. It
// rounds to twelve decimals, since clients send the rounding errors of floats: 0.30000000000000004 means 0.3.
func ParsePercent(text string) (percent decimal.Decimal, ok bool) {
	const longest, mostDecimals = 24, 12
	if len(text) > longest || strings.Trim(text, "0123456789.") != "" {
		return decimal.Decimal{}, false
	}
	percent, err := decimal.NewFromString(text)
	if percent.Exponent() < -mostDecimals {
		percent = percent.Round(mostDecimals)
	}
	return percent, err == nil
}
