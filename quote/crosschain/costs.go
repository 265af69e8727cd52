package crosschain

import (
	"strconv"

	"crossgate/chain"
)

// Lines of costsDetails as the hosted service names them.
const (
	PreSwap           = "PreSwap"
	PreSwapSlippage   = "PreSwapEstimatedSlippage"
	ProtocolFee       = "DlnProtocolFee"
	AffiliateFee      = "AffiliateFee"
	TakerMargin       = "TakerMargin"
	OperatingExpenses = "EstimatedOperatingExpenses"
	AfterSwap         = "AfterSwap"
	AfterSwapSlippage = "AfterSwapEstimatedSlippage"
)

// Cost is one line on the way from the input to the recommended amount.
type Cost struct {
	Type                string
	Chain               chain.ID
	TokenIn, TokenOut   chain.Address
	AmountIn, AmountOut chain.Amount
	Fee                 chain.Amount // of TokenIn; zero in a swap
	FeeBps              string       // decimal; empty if the fee is not a share
}

// Costs returns a course's lines between the tokens of a route, in sequence. Steps that take nothing are left out,
// except the protocol's and the taker's.
func (c Course) Costs(r Route) []Cost {
	l := lines{at: r.Give.Chain, token: r.TokenIn, rest: c.In}
	if c.Before != nil {
		l.swap(PreSwap, r.Give.Address, c.Before.Out)
		l.take(PreSwapSlippage, c.Before.slippage(), strconv.Itoa(c.Before.SlippageBps))
	}
	l.take(ProtocolFee, c.ProtocolFee, strconv.Itoa(c.ProtocolBps))
	if c.Affiliate.IsPositive() {
		l.take(AffiliateFee, c.AffiliateFee, c.Affiliate.Shift(2).String())
	}
	l.at, l.token, l.rest = r.Take.Chain, r.Take.Address, c.Carried
	l.take(TakerMargin, c.Margin, strconv.FormatUint(c.marginBps(), 10))
	l.take(OperatingExpenses, c.Expenses, "")
	if c.After != nil {
		l.swap(AfterSwap, r.TokenOut, c.After.Out)
		l.take(AfterSwapSlippage, c.After.slippage(), strconv.Itoa(c.After.SlippageBps))
	}
	return l.made
}

// lines collects cost lines; each starts from the rest that the previous one leaves.
type lines struct {
	made  []Cost
	at    chain.ID
	token chain.Address
	rest  chain.Amount
}

func (l *lines) take(kind string, fee chain.Amount, bps string) {
	l.made = append(l.made, Cost{
		Type: kind, Chain: l.at, TokenIn: l.token, TokenOut: l.token,
		AmountIn: l.rest, AmountOut: l.rest.Sub(fee), Fee: fee, FeeBps: bps,
	})
	l.rest = l.rest.Sub(fee)
}

func (l *lines) swap(kind string, into chain.Address, out chain.Amount) {
	l.made = append(l.made, Cost{Type: kind, Chain: l.at, TokenIn: l.token, TokenOut: into, AmountIn: l.rest, AmountOut: out})
	l.token, l.rest = into, out
}
