package upstream

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
)

// countFailure counts an attempt that did not lead to an answer, by its class and the endpoint. Who leaves
// and who wants a second opinion did not meet a failure. The counter is asked for each time, like the
// tracer; failures are rare enough.
func countFailure(ctx context.Context, e *Endpoint, err error) {
	class := classOf(err)
	if err == nil || class == Canceled || class == Unconfirmed {
		return
	}
	failures, invalid := otel.Meter("crossgate/upstream").Int64Counter("crossgate.upstream.failures",
		metric.WithDescription("Attempts at endpoints that gave no usable answer, by class."))
	if invalid != nil {
		return // a provider that refuses this name refuses to count
	}
	failures.Add(ctx, 1, metric.WithAttributes(errorTypeKey.String(class.String()), endpointKey.String(e.name)),
		metric.WithAttributes(e.attributes...))
}
