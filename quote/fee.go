package quote

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/trace"

	"crossgate/chain"
	"crossgate/chain/solana"
)

// typicalGas is assumed if neither venue nor chain provides a figure: an aggregator's swap over two or three pools. A
// venue's figure outside of the others is ignored: every transaction takes the least, and none the most on any chain.
const (
	typicalGas = 350_000
	leastGas   = 21_000
	mostGas    = 1 << 40
)

// typicalBytes is the half of a swap's calldata that does not compress. Solana charges only for signatures.
var typicalBytes = map[chain.Family]int{chain.EVM: 800, chain.TVM: 800}

// How long to wait for the chain; an answer without a fee is better than a late one.
const (
	gasPricePatience = time.Second
	gasPatience      = 700 * time.Millisecond
)

// Gas of the public router's own work: measured 58,000 to 65,000, some 10,000 more with an affiliate (golden, 3.2.0).
const (
	routerGas    = 65_000
	affiliateGas = 12_000
)

// gas estimates the gas of the candidate's transaction before it is built.
func (o *candidate) gas() uint64 {
	gas := o.quote.Gas
	if gas < leastGas || gas > mostGas {
		gas = typicalGas
	}
	if o.way == Routed {
		gas += routerGas
		if o.payout.charges.affiliateBps > 0 {
			gas += affiliateGas
		}
	}
	return gas
}

// gas returns the simulated gas, or the candidate's estimate without a simulation.
func (b *built) gas() uint64 {
	if b.result != nil && b.result.Gas > 0 {
		return b.result.Gas
	}
	return b.candidate.gas()
}

// WithMargin is gas and a fifth, rounded up.
func WithMargin(gas uint64) uint64 { return gas + (gas+4)/5 }

// readGasPrice returns the chain's gas price, nil if the chain has no source or does not answer.
func (t *trade) readGasPrice(ctx context.Context) *GasPrice {
	if t.chain.Fees == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, gasPricePatience)
	defer cancel()
	price, err := t.chain.Fees.GasPrice(ctx, t.request.Priority)
	if err != nil {
		trace.SpanFromContext(ctx).RecordError(err)
		return nil
	}
	return &price
}

// renewGasPrice has the gas price read for later requests if it is no longer current. Only Close waits for it.
func (t *trade) renewGasPrice(ctx context.Context) {
	if t.gasPrice == nil {
		return
	}
	ctx = context.WithoutCancel(ctx)
	t.asking.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, gasPricePatience)
		defer cancel()
		t.chain.Fees.RenewGasPrice(ctx)
	})
}

// fee returns the cost of the transaction itself, nil unless all of the chain's fees are known.
func (t *trade) fee(ctx context.Context, b *built, prices market) *Fee {
	if t.gasPrice == nil || !b.isFeeKnown {
		return nil
	}
	limit := t.gasLimit(ctx, b)
	total := t.gasPrice.Expected.MulDiv(limit, 1).Add(b.dataFee).Add(b.priorityFee)
	return &Fee{
		Total: total, GasLimit: limit, Price: *t.gasPrice, Beside: b.dataFee, Priority: b.priorityFee,
		USD: USD(prices.coin, total, t.swap.Chain.Coin.Decimals),
	}
}

// gasLimit returns the chain's estimate plus a fifth, or the venue's figure if there is none, as before an approval.
func (t *trade) gasLimit(ctx context.Context, b *built) uint64 {
	if b.result != nil && b.result.Gas > 0 {
		return WithMargin(b.result.Gas)
	}
	if t.request.Recipient.IsAbsent() {
		return WithMargin(b.gas())
	}
	if b.tx.To.IsAbsent() {
		return b.gas()
	}
	ctx, cancel := context.WithTimeout(ctx, gasPatience)
	defer cancel()
	gas, err := t.chain.Fees.EstimateGas(ctx, t.swap.Sender, b.tx)
	if err != nil {
		return b.gas()
	}
	return WithMargin(gas)
}

// dataFee returns the chain's charge for the transaction's bytes or signature, and whether the chain reported it.
func (t *trade) dataFee(ctx context.Context, tx Tx, gas uint64) (fee chain.Amount, known bool) {
	if t.chain.Fees == nil {
		return chain.Amount{}, false
	}
	ctx, cancel := context.WithTimeout(ctx, gasPatience)
	defer cancel()
	fee, err := t.chain.Fees.DataFee(ctx, tx, gas)
	if err != nil {
		trace.SpanFromContext(ctx).RecordError(err)
		return chain.Amount{}, false
	}
	return fee, true
}

// fitBudget lowers the unit limit on Solana to a fifth above what a simulation took, since unused units are paid for.
func (t *trade) fitBudget(b *built) {
	if t.swap.Chain.Family != chain.SVM || b.result == nil || b.result.Gas == 0 {
		return
	}
	if lowered, err := solana.LowerUnitLimit(b.tx.Data, WithMargin(b.result.Gas)); err == nil {
		b.tx.Data = lowered
	}
}

// priorityFee returns the priority fee on Solana, in lamports: as set in the message, or else at the going bid.
func (t *trade) priorityFee(b *built) chain.Amount {
	if t.swap.Chain.Family != chain.SVM {
		return chain.Amount{}
	}
	if m, err := solana.ParseUnsigned(b.tx.Data); err == nil {
		if budget := m.Budget(); budget.Priced {
			return solana.PriorityFee(budget.Units, chain.NewAmount(budget.Price))
		}
	}
	return solana.PriorityFee(min(WithMargin(b.gas()), solana.MaxComputeUnits), t.swap.Bid)
}
