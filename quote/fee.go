package quote

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/trace"

	"crossgate/chain"
	"crossgate/chain/solana"
)

// typicalGas stands in where neither venue nor chain gives a figure: an aggregator's swap over two or three pools. More
// than mostGas is none: no transaction takes that on any chain.
const (
	typicalGas = 350_000
	mostGas    = 1 << 40
)

// typicalBytes is the half of a swap's calldata that does not compress. Solana charges for signatures alone.
var typicalBytes = map[chain.Family]int{chain.EVM: 800, chain.TVM: 800}

// How long the chain is waited for; an answer without a fee is better than a late one.
const (
	gasPricePatience = time.Second
	gasPatience      = 700 * time.Millisecond
)

// Gas of the public router's own work: 58,000 to 65,000 measured, some 10,000 for an affiliate (golden, version 3.2.0).
const (
	routerGas    = 65_000
	affiliateGas = 12_000
)

// gas is what the candidate's transaction takes, as far as is known before there is one.
func (o *candidate) gas() uint64 {
	gas := o.quote.Gas
	if gas == 0 || gas > mostGas {
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

// gas is what the simulation showed, where it did.
func (b *built) gas() uint64 {
	if b.result != nil && b.result.Gas > 0 {
		return b.result.Gas
	}
	return b.candidate.gas()
}

// gasCost is what gas costs at a price, in wei.
func gasCost(gas uint64, price chain.Amount) chain.Amount { return price.MulDiv(gas, 1) }

// WithMargin is gas and a fifth, rounded up.
func WithMargin(gas uint64) uint64 { return gas + (gas+4)/5 }

// readGasPrice asks the chain, nil when it has no source or does not answer.
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

// fee is what the transaction itself will cost, nil when the chain's fees are not known, all of them.
func (t *trade) fee(ctx context.Context, b *built, prices market) *Fee {
	if t.gasPrice == nil || !b.isFeeKnown {
		return nil
	}
	limit := t.gasLimit(ctx, b)
	total := gasCost(limit, t.gasPrice.Expected).Add(b.dataFee).Add(b.priorityFee)
	return &Fee{
		Total: total, GasLimit: limit, Price: *t.gasPrice, Beside: b.dataFee, Priority: b.priorityFee,
		USD: USD(prices.coin, total, t.swap.Chain.Coin.Decimals),
	}
}

// gasLimit is a fifth above the chain's estimate, or the venue's figure where there is none, as before an approval.
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

// dataFee is what the chain takes for the transaction's bytes, or its signature; nothing is known when it does not say.
func (t *trade) dataFee(ctx context.Context, tx Tx, gas uint64) (fee chain.Amount, known bool) {
	if t.chain.Fees == nil {
		return chain.Amount{}, false
	}
	ctx, cancel := context.WithTimeout(ctx, gasPatience)
	defer cancel()
	fee, err := t.chain.Fees.DataFee(ctx, t.swap.Sender, tx, gas)
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

// priorityFee is what a place in a block costs on Solana, in lamports: as the message says, or as others bid.
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
