package upstream

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// tracer asks each time: a variable would keep to the first provider that the process ever set.
func tracer() trace.Tracer { return otel.Tracer("crossgate/upstream") }

// Attribute keys of an attempt. HTTP, RPC and error keys are OpenTelemetry's semantic conventions
// (opentelemetry.io/docs/specs/semconv, v1.44), the others are ours.
const (
	endpointKey   = attribute.Key("crossgate.endpoint")
	attemptKey    = attribute.Key("crossgate.attempt")
	outcomeKey    = attribute.Key("crossgate.outcome")
	hedgeKey      = attribute.Key("crossgate.hedge")
	batchSizeKey  = attribute.Key("crossgate.rpc.batch_size")
	httpMethodKey = attribute.Key("http.request.method")
	httpStatusKey = attribute.Key("http.response.status_code")
	rpcSystemKey  = attribute.Key("rpc.system.name")
	rpcMethodKey  = attribute.Key("rpc.method")
	errorTypeKey  = attribute.Key("error.type")
)

var asClient = trace.WithSpanKind(trace.SpanKindClient)

// startAttempt opens the client span of one attempt; within a trace that is not sampled it costs nothing.
// The URL is never an attribute.
func startAttempt(ctx context.Context, e *Endpoint, r Request, number int) (context.Context, trace.Span) {
	if parent := trace.SpanContextFromContext(ctx); parent.IsValid() && !parent.IsSampled() {
		return ctx, trace.SpanFromContext(context.Background()) // one that does nothing
	}
	name := "http.attempt"
	if r.RPCMethod != "" {
		name = "rpc.attempt"
	}
	ctx, span := tracer().Start(ctx, name, asClient)
	if !span.IsRecording() {
		return ctx, span
	}
	span.SetAttributes(endpointKey.String(e.name), attemptKey.Int(number), httpMethodKey.String(r.method()))
	span.SetAttributes(e.attributes...)
	if r.RPCMethod != "" {
		span.SetAttributes(rpcSystemKey.String("jsonrpc"), rpcMethodKey.String(r.RPCMethod), batchSizeKey.Int(r.Calls))
	}
	return ctx, span
}

// endAttempt closes the span that startAttempt opened.
func endAttempt(span trace.Span, response Response, hedge string, err error) {
	if !span.IsRecording() {
		return
	}
	defer span.End()
	if hedge != "" {
		span.SetAttributes(hedgeKey.String(hedge))
	}
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
