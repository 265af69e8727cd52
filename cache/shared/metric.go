package shared

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.37.0"
	"go.opentelemetry.io/otel/trace"
)

// callBounds are OpenTelemetry's for db.client.operation.duration in seconds, up to the longest call.
var callBounds = []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1}

// newDuration creates the instrument of calls. Only an invalid name could fail, and its name is valid.
func newDuration() metric.Float64Histogram {
	made, _ := otel.Meter("crossgate/cache/shared").Float64Histogram("db.client.operation.duration", metric.WithUnit("s"),
		metric.WithDescription("Duration of calls to the database and to the shared cache."), metric.WithExplicitBucketBoundaries(callBounds...))
	return made
}

func (c *Cache) observeConnection() (stop func()) {
	meter := otel.Meter("crossgate/cache/shared")
	up, _ := meter.Int64ObservableGauge("crossgate.cache.shared.up",
		metric.WithDescription("1 while the shared cache is connected and accepts calls."))
	registered, _ := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		var value int64
		if _, ok := c.Status(); ok {
			value = 1
		}
		o.ObserveInt64(up, value)
		return nil
	}, up)
	return func() { _ = registered.Unregister() } // fails only if called twice
}

// observe measures a call until end. The call has a span if the request behind it has one.
func (c *Cache) observe(ctx context.Context, name string) (_ context.Context, end func(error)) {
	const operation = "EVALSHA"
	attributes := []attribute.KeyValue{semconv.DBSystemNameKey.String("redis"), semconv.DBOperationName(operation), attribute.String("crossgate.cache.script", name)}
	span := trace.SpanFromContext(context.Background()) // records nothing
	if trace.SpanFromContext(ctx).IsRecording() {
		ctx, span = otel.Tracer("crossgate/cache/shared").Start(ctx, operation+" "+name, trace.WithSpanKind(trace.SpanKindClient),
			trace.WithAttributes(append(attributes, semconv.ServerAddress(c.server.address))...))
	}
	started := time.Now()
	return ctx, func(err error) {
		if err != nil {
			failure := semconv.ErrorTypeKey.String(errorType(err))
			attributes = append(attributes, failure)
			span.SetAttributes(failure)
			span.SetStatus(codes.Error, failure.Value.AsString())
		}
		c.duration.Record(ctx, time.Since(started).Seconds(), metric.WithAttributes(attributes...))
		span.End()
	}
}

// errorType returns one of few values, whatever the server replies.
func errorType(err error) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(err, context.Canceled):
		return "canceled"
	}
	return "failed"
}
