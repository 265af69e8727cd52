package cache

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// Attribute keys of calls to the shared level: OpenTelemetry's semantic conventions for databases.
const (
	systemKey    = attribute.Key("db.system.name")
	operationKey = attribute.Key("db.operation.name")
	scriptKey    = attribute.Key("crossgate.cache.script")
	errorKey     = attribute.Key("error.type")
)

// callBounds are OpenTelemetry's for db.client.operation.duration, seconds, as far as calls may take.
var callBounds = []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1}

// measures are the instruments of a shared level.
type measures struct {
	duration metric.Float64Histogram
	up       metric.Registration
}

func newMeasures(isUp func() bool) (m measures, err error) {
	meter := otel.Meter("crossgate/cache")
	var errs [3]error
	m.duration, errs[0] = meter.Float64Histogram("db.client.operation.duration", metric.WithUnit("s"),
		metric.WithDescription("Duration of calls to the shared cache."), metric.WithExplicitBucketBoundaries(callBounds...))
	up, err := meter.Int64ObservableGauge("crossgate.cache.shared.up",
		metric.WithDescription("1 while there is a connection to the shared cache."))
	errs[1] = err
	m.up, errs[2] = meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		var value int64
		if isUp() {
			value = 1
		}
		o.ObserveInt64(up, value)
		return nil
	}, up)
	return m, errors.Join(errs[:]...)
}

func (m measures) close() error { return m.up.Unregister() }

// observe measures a call until end. It has a span where the request behind it has one.
func (s *Shared) observe(ctx context.Context, name string) (_ context.Context, end func(error)) {
	const operation = "EVALSHA"
	attributes := []attribute.KeyValue{systemKey.String("redis"), operationKey.String(operation), scriptKey.String(name)}
	var span trace.Span
	if trace.SpanFromContext(ctx).IsRecording() {
		ctx, span = otel.Tracer("crossgate/cache").Start(ctx, operation+" "+name,
			trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attributes...))
	}
	started := time.Now()
	return ctx, func(err error) {
		if err != nil {
			attributes = append(attributes, errorKey.String(errorType(err)))
		}
		s.calls.duration.Record(ctx, time.Since(started).Seconds(), metric.WithAttributes(attributes...))
		if span == nil {
			return
		}
		if err != nil {
			span.SetAttributes(attributes[len(attributes)-1])
			span.SetStatus(codes.Error, errorType(err))
		}
		span.End()
	}
}

// errorType is one of few, whatever the server says.
func errorType(err error) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(err, context.Canceled):
		return "canceled"
	}
	return "failed"
}
