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

// Cost is one line of the way from the input to the recommended amount.
type Cost struct {
	Type                string
	Chain               chain.ID
	TokenIn, TokenOut   chain.Address
	AmountIn, AmountOut chain.Amount
	Fee                 chain.Amount // of TokenIn; zero in a swap
	FeeBps              string       // decimal; empty where the fee is not a share
}

// Costs are the lines of a course between tokens, in their sequence; steps that take nothing are left out but for the
// protocol's and a taker's.
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

// lines are made one after the other; each begins with what the one before leaves.
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
