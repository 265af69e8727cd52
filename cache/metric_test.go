package cache

import (
	"context"
	"testing"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"crossgate/internal/must"
	"crossgate/internal/redistest"
)

// TestCallsOfTracedRequestsHaveSpans loads once within a trace and once without.
func TestCallsOfTracedRequestsHaveSpans(t *testing.T) {
	r := startReplica(t, redistest.Serve(t).URL()).connected(t)
	recorder := tracetest.NewSpanRecorder()
	before := otel.GetTracerProvider()
	provider := trace.NewTracerProvider(trace.WithSpanProcessor(recorder))
	otel.SetTracerProvider(provider)
	t.Cleanup(func() { otel.SetTracerProvider(before) })

	r.ask(t, constant("value", Life{}))
	if ended := recorder.Ended(); len(ended) > 0 {
		t.Errorf("a request that is not traced has the span %s", ended[0].Name())
	}
	ctx, span := provider.Tracer("test").Start(context.Background(), "request")
	must.Get(r.GetShared(ctx, named("key"), constant("value", hour)))(t)
	r.settle()
	var names []string
	for _, each := range recorder.Ended() {
		names = append(names, each.Name())
		if each.SpanContext().TraceID() != span.SpanContext().TraceID() {
			t.Errorf("%s is of another trace", each.Name())
		}
	}
	if len(names) != 2 || names[0] != "EVALSHA take" || names[1] != "EVALSHA put" {
		t.Errorf("the spans are %v, want one to take and one to put", names)
	}
}
