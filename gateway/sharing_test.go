package gateway

import (
	"testing"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// TestTracesOfFollowersObeyTheShare begins traces as followers, requests and what they ask do.
func TestTracesOfFollowersObeyTheShare(t *testing.T) {
	for share, want := range map[float64]int{0: 1 * 2, 1: 2 * 2} {
		recorder := tracetest.NewSpanRecorder()
		tracer := sdk.NewTracerProvider(sdk.WithSpanProcessor(recorder), sdk.WithSampler(sampler(share))).Tracer("test")
		for _, kind := range []trace.SpanKind{trace.SpanKindInternal, trace.SpanKindServer} {
			ctx, root := tracer.Start(t.Context(), "root", trace.WithSpanKind(kind))
			within, child := tracer.Start(ctx, "child")
			if !trace.SpanContextFromContext(within).IsValid() {
				t.Errorf("share %v: what is below a %s could begin a trace", share, kind)
			}
			child.End()
			root.End()
		}
		if got := len(recorder.Ended()); got != want {
			t.Errorf("share %v: %d spans, want %d", share, got, want)
		}
	}
}
