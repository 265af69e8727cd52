package proxy_test

import (
	"context"
	"io"
	"net/http"
	"slices"
	"testing"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	client "go.opentelemetry.io/otel/trace"

	"crossgate/proxy/shadow"
)

// recordSpans records every span until the test ends.
func recordSpans(t *testing.T, options ...trace.TracerProviderOption) *tracetest.InMemoryExporter {
	t.Helper()
	spans, before := tracetest.NewInMemoryExporter(), otel.GetTracerProvider()
	provider := trace.NewTracerProvider(append(options, trace.WithSyncer(spans))...)
	otel.SetTracerProvider(provider)
	t.Cleanup(func() {
		otel.SetTracerProvider(before)
		if err := provider.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return spans
}

// TestPassedRequestsAreTracedAsAChainOfSpans requests a passed-through path, its stored response, and one that is not
// stored: the attempts at the origin belong to the request that made them, or nothing has a span.
func TestPassedRequestsAreTracedAsAChainOfSpans(t *testing.T) {
	for name, c := range map[string]struct {
		share float64
		want  []string
	}{
		"traced":   {1, []string{"client GET", "server GET", "server GET", "client GET", "server GET"}},
		"untraced": {0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			spans := recordSpans(t)
			s := withOrigin(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/kept" {
					w.Header().Set("Cache-Control", "max-age=60")
				}
				_, _ = io.WriteString(w, "from the origin")
			})
			s.Options.Traced = c.share
			for _, path := range []string{"/kept", "/kept", "/passed"} {
				wantStatus(t, path, get(s, path), http.StatusOK)
			}
			var got []string
			request := map[string]bool{}
			for _, span := range spans.GetSpans() {
				got = append(got, span.SpanKind.String()+" "+span.Name)
				if span.SpanKind == client.SpanKindClient && !span.Parent.IsValid() {
					t.Error("an attempt belongs to no request")
				}
				request[span.SpanContext.TraceID().String()] = true
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("spans %q, want %q", got, c.want)
			}
			if c.want != nil && len(request) != 3 {
				t.Errorf("%d traces of 3 requests", len(request))
			}
		})
	}
}

// TestComparisonsLeaveNoSpans proves that comparisons have no traces of their own, nor spans in requested ones.
func TestComparisonsLeaveNoSpans(t *testing.T) {
	spans := recordSpans(t)
	s, ended := withShadow(t, func(http.ResponseWriter, *http.Request) {}, func(*shadow.Settings) {})
	s.Options.Traced = 0
	get(s, ordersPath+claimedTx)
	ended()
	if got := spans.GetSpans(); len(got) > 0 {
		t.Errorf("%d spans, the first %s", len(got), got[0].Name)
	}
}
