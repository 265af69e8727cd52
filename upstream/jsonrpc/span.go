package jsonrpc

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"crossgate/upstream"
)

// scope is that of all instruments and spans of calls to upstream services.
const scope = "crossgate/upstream"

// Attribute keys of a join; see upstream's span.go.
const (
	joinedKey    = attribute.Key("crossgate.rpc.joined")
	outcomeKey   = attribute.Key("crossgate.outcome")
	methodsKey   = attribute.Key("crossgate.rpc.methods")
	batchSizeKey = attribute.Key("crossgate.rpc.batch_size")
	rpcSystemKey = attribute.Key("rpc.system.name")
	rpcMethodKey = attribute.Key("rpc.method")
)

// joinCounter counts calls that join equal ones of other callers.
type joinCounter struct {
	calls      metric.Int64Counter
	attributes []attribute.KeyValue // of what the pool serves
}

func newJoinCounter(p *upstream.Pool) joinCounter {
	j := joinCounter{attributes: p.Attributes()}
	j.calls, _ = otel.Meter(scope).Int64Counter("crossgate.upstream.joined",
		metric.WithDescription("JSON-RPC calls that waited for the same call of another caller."))
	j.add(context.Background(), 0) // so that the series is there before the first one
	return j
}

func (j joinCounter) add(ctx context.Context, calls int) {
	j.calls.Add(ctx, int64(calls), metric.WithAttributes(j.attributes...))
}

// joinSpan is that of a caller who waits for calls that another one makes.
type joinSpan struct{ trace.Span }

// startJoin opens the span of a caller's wait for a batch in flight. It is linked to the span below which the attempts
// are.
func startJoin(ctx context.Context, w *waiter, attributes []attribute.KeyValue) joinSpan {
	if parent := trace.SpanContextFromContext(ctx); parent.IsValid() && !parent.IsSampled() {
		return joinSpan{trace.SpanFromContext(context.Background())} // one that does nothing
	}
	_, span := otel.Tracer(scope).Start(ctx, "rpc.join", trace.WithLinks(trace.Link{SpanContext: w.batch.starter}))
	if span.IsRecording() {
		span.SetAttributes(attributes...)
		span.SetAttributes(joinedKey.Bool(true), rpcSystemKey.String("jsonrpc"),
			rpcMethodKey.String(spanMethod(w.calls)), batchSizeKey.Int(len(w.calls)))
		if methods := spanMethodsOf(w.calls); len(methods) > 1 {
			span.SetAttributes(methodsKey.StringSlice(methods))
		}
	}
	return joinSpan{span}
}

// end closes it with what became of the batch, as far as the caller knows.
func (j joinSpan) end(w *waiter) {
	if !j.IsRecording() {
		return
	}
	outcome := "ok"
	if w.left != nil {
		outcome = upstream.ClassOfContext(w.left).String()
	} else if w.batch.err != nil {
		outcome = upstream.ClassOf(w.batch.err).String()
	}
	j.SetAttributes(outcomeKey.String(outcome))
	j.End()
}
