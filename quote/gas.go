package quote

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/trace"

	"crossgate/chain"
)

// typicalGas stands in where nobody gives a figure: an aggregator's swap over two or three pools.
const typicalGas = 350_000

// How long the chain is waited for; an answer without a fee is better than a late one.
const (
	gasPricePatience = time.Second
	gasPatience      = 700 * time.Millisecond
)

// What the public router's own work takes: 58,000 to 65,000 was measured for the call, about 10,000 for an
// affiliate (golden recordings of the real router, version 3.2.0).
const (
	routerGas    = 65_000
	affiliateGas = 12_000
)

// gas is what the offer's transaction takes, as far as is known before there is one.
func (o *offer) gas() uint64 {
	gas := o.quote.Gas
	if gas == 0 {
		gas = typicalGas
	}
	if o.way == Routed {
		gas += routerGas
		if o.outcome.charges.affiliateBps > 0 {
			gas += affiliateGas
		}
	}
	return gas
}

// gas is what the trial showed, where it did.
func (b *built) gas() uint64 {
	if b.finding != nil && b.finding.Gas > 0 {
		return b.finding.Gas
	}
	return b.offer.gas()
}

// gasCost is what gas costs at a price, in wei.
func gasCost(gas uint64, price chain.Amount) chain.Amount { return price.MulDiv(gas, 1) }

// gasPrice asks the chain, nil when it has no source or does not answer.
func (e *Estimator) gasPrice(ctx context.Context, id chain.ID, p Priority) *GasPrice {
	source, known := e.fees[id]
	if !known {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, gasPricePatience)
	defer cancel()
	price, err := source.GasPrice(ctx, p)
	if err != nil {
		trace.SpanFromContext(ctx).RecordError(err)
		return nil
	}
	return &price
}

// gasLimit is a fifth more than the gas that the chain says the transaction needs. A chain that cannot say,
// mostly because the sender has not approved the router yet, leaves the venue's own figure.
func (e *Estimator) gasLimit(ctx context.Context, s Swap, b built) uint64 {
	ctx, span := tracer().Start(ctx, "quote.gas")
	defer span.End()
	if b.finding != nil && b.finding.Gas > 0 {
		return withRoom(b.finding.Gas)
	}
	if b.tx.To.IsAbsent() {
		return b.gas()
	}
	ctx, cancel := context.WithTimeout(ctx, gasPatience)
	defer cancel()
	gas, err := e.fees[s.Chain.ID].EstimateGas(ctx, s.Sender, b.tx)
	if err != nil {
		span.RecordError(err)
		return b.gas()
	}
	return withRoom(gas)
}

// withRoom is gas and a fifth, rounded up.
func withRoom(gas uint64) uint64 { return gas + (gas+4)/5 }
