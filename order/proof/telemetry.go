package proof

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"crossgate/chain"
	"crossgate/order/ledger"
)

// Span starts a span about a range of a chain's blocks.
func Span(ctx context.Context, name string, id chain.ID, r ledger.Range) (inside context.Context, end func(error)) {
	inside, span := otel.Tracer("crossgate/order").Start(ctx, name, trace.WithAttributes(
		attribute.Int64("crossgate.chain.id", int64(id)),
		attribute.Int64("crossgate.block.from", int64(r.From)),
		attribute.Int64("crossgate.block.to", int64(r.To)),
	))
	return inside, func(err error) {
		if err != nil {
			span.SetStatus(codes.Error, err.Error())
		}
		span.End()
	}
}

// ChainAttribute identifies a chain by the API's number.
func ChainAttribute(id chain.ID) metric.MeasurementOption {
	return metric.WithAttributes(attribute.Int64("crossgate.chain.id", int64(id)))
}

// CountFinalReorg counts reorgs of a chain that dropped final blocks; see CountCorrections for 0.
func CountFinalReorg(ctx context.Context, id chain.ID, times int) {
	Count(ctx, id, times, "crossgate.index.final_reorgs", "Reorgs that dropped final blocks.")
}

// CountCorrections counts events that the first reading of a chain's blocks missed or made up. Call it with 0 at the
// start, so that the first correction shows as an increase.
func CountCorrections(ctx context.Context, id chain.ID, events int) {
	Count(ctx, id, events, "crossgate.index.corrections", "Events added or removed by second readings of final blocks.")
}

// Count adds to a counter. It looks the counter up each time, like the tracer: the counted events are rare.
func Count(ctx context.Context, id chain.ID, times int, name, description string) {
	counter, invalid := otel.Meter("crossgate/order").Int64Counter(name, metric.WithDescription(description))
	if invalid != nil {
		return // a provider that rejects the name counts nothing
	}
	counter.Add(ctx, int64(times), ChainAttribute(id))
}
