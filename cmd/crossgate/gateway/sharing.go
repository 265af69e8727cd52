package gateway

import (
	"context"
	"encoding/binary"
	"math/rand/v2"

	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/embedded"
)

// sharing leaves out traces that no request begins, such as those of followers and probes, but for a share of them.
// Requests decide for themselves: those that fail are traced in any case.
type sharing struct {
	embedded.TracerProvider

	provider trace.TracerProvider
	share    float64
}

// Tracer implements trace.TracerProvider.
func (s sharing) Tracer(name string, options ...trace.TracerOption) trace.Tracer {
	return sharingTracer{tracer: s.provider.Tracer(name, options...), share: s.share}
}

type sharingTracer struct {
	embedded.Tracer

	tracer trace.Tracer
	share  float64
}

// Start implements trace.Tracer. Below the span of a trace that is left out no other begins one.
func (s sharingTracer) Start(ctx context.Context, name string, options ...trace.SpanStartOption) (context.Context, trace.Span) {
	config := trace.NewSpanStartConfig(options...)
	begins := !trace.SpanContextFromContext(ctx).IsValid() && config.SpanKind() != trace.SpanKindServer
	if !begins || rand.Float64() < s.share {
		return s.tracer.Start(ctx, name, options...)
	}
	var id trace.SpanContextConfig
	binary.NativeEndian.PutUint64(id.TraceID[:], rand.Uint64()|1)
	binary.NativeEndian.PutUint64(id.SpanID[:], rand.Uint64()|1)
	ctx = trace.ContextWithSpanContext(ctx, trace.NewSpanContext(id))
	return ctx, trace.SpanFromContext(ctx)
}
