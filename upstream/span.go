package upstream

import (
	"cmp"
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Attribute keys of an attempt. HTTP and error keys are OpenTelemetry's semantic conventions
// (opentelemetry.io/docs/specs/semconv, v1.44), the others are ours. None contains a host or a URL: providers put keys
// into both.
const (
	endpointKey   = attribute.Key("crossgate.endpoint")
	attemptKey    = attribute.Key("crossgate.attempt")
	outcomeKey    = attribute.Key("crossgate.outcome")
	httpMethodKey = attribute.Key("http.request.method")
	httpStatusKey = attribute.Key("http.response.status_code")
	errorTypeKey  = attribute.Key("error.type")
)

var asClient = trace.WithSpanKind(trace.SpanKindClient)

// tracing holds the attributes of an endpoint's spans. They do not change.
type tracing struct {
	endpoint   string // its name
	attributes []attribute.KeyValue
}

// start opens the client span of one attempt; in an unsampled trace it costs nothing.
func (t *tracing) start(ctx context.Context, r Request, number int) (context.Context, trace.Span) {
	if parent := trace.SpanContextFromContext(ctx); parent.IsValid() && !parent.IsSampled() {
		return ctx, trace.SpanFromContext(context.Background()) // a no-op span
	}
	// The tracer is looked up each time: a variable would stay bound to the first provider that the process sets.
	ctx, span := otel.Tracer("crossgate/upstream").Start(ctx, cmp.Or(r.Kind, r.method()), asClient)
	if !span.IsRecording() {
		return ctx, span
	}
	span.SetAttributes(endpointKey.String(t.endpoint), attemptKey.Int(number), httpMethodKey.String(r.method()))
	span.SetAttributes(t.attributes...)
	if r.Attributes != nil {
		span.SetAttributes(r.Attributes()...)
	}
	return ctx, span
}

func endAttempt(span trace.Span, response Response, err error) {
	if !span.IsRecording() {
		return
	}
	defer span.End()
	if response.Status != 0 {
		span.SetAttributes(httpStatusKey.Int(response.Status))
	}
	if err == nil {
		span.SetAttributes(outcomeKey.String("ok"))
		return
	}
	class := ClassOf(err).String()
	span.SetAttributes(outcomeKey.String(class))
	if ClassOf(err) != Canceled {
		span.SetAttributes(errorTypeKey.String(class))
		span.SetStatus(codes.Error, class)
	}
}
