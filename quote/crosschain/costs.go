package crosschain

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"crossgate/chain"
	"crossgate/quote"
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

// Charges are the fees of a chain's contracts for orders with another chain, as read from them.
type Charges struct {
	Fixed       chain.Amount // of the coin, for creating an order
	TransferBps int          // of the gross amount
	Message     chain.Amount // of the coin, charged by the gate for a message to the other chain
}

// chargesLife is how long charges are current: they change by governance.
const chargesLife = 30 * time.Second

type pair struct{ on, with chain.ID }

// charges returns a chain's charges of at most a minute ago, usually without a round trip.
func (e *Estimator) charges(ctx context.Context, p pair) (Charges, error) {
	return e.knownCharges.of(p).Get(ctx, e.readCharges(p))
}

func (e *Estimator) renewCharges(ctx context.Context, p pair) {
	e.knownCharges.of(p).Renew(ctx, e.readCharges(p))
}

func (e *Estimator) readCharges(p pair) quote.Read[Charges] {
	return func(ctx context.Context) (Charges, time.Duration, error) {
		read := e.Chains[p.on].Charges
		if read == nil {
			return Charges{}, 0, fmt.Errorf("the order contracts of chain %d are not read", p.on)
		}
		charges, err := read(ctx, p.with)
		return charges, chargesLife, err
	}
}

// renewed keeps a value per key. The zero value has none.
type renewed[K comparable, T any] struct{ values sync.Map }

func (r *renewed[K, T]) of(key K) *quote.Renewed[T] {
	value, _ := r.values.LoadOrStore(key, new(quote.Renewed[T]))
	return value.(*quote.Renewed[T])
}
