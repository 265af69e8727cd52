package quote

import (
	"context"

	"go.opentelemetry.io/otel/trace"

	"crossgate/chain"
)

// fee is what the transaction itself will cost.
func (e *Estimator) fee(ctx context.Context, s Swap, b built, price *GasPrice, m market) *Fee {
	if price == nil {
		return nil
	}
	limit := e.gasLimit(ctx, s, b)
	total := gasCost(limit, price.Expected).Add(b.dataFee).Add(b.placed)
	return &Fee{
		Total: total, GasLimit: limit, Price: *price, Beside: b.dataFee, Priority: b.placed,
		USD: m.coin.of(total, s.Chain.Coin.Decimals),
	}
}

// dataFee is what the chain takes for the transaction's bytes, or its signature; nothing when it does not say.
func (e *Estimator) dataFee(ctx context.Context, s Swap, b built) chain.Amount {
	source, known := e.fees[s.Chain.ID]
	if !known {
		return chain.Amount{}
	}
	ctx, cancel := context.WithTimeout(ctx, gasPatience)
	defer cancel()
	fee, err := source.DataFee(ctx, s.Sender, b.tx, b.gas())
	if err != nil {
		trace.SpanFromContext(ctx).RecordError(err)
		return chain.Amount{}
	}
	return fee
}
