package stories_test

import (
	"context"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.opentelemetry.io/otel"
	tracing "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"crossgate/internal/must"
	"crossgate/sandbox/sandboxtest"
)

// TestSwapsTakeFewRoundTrips counts the requests of a swap that is not cached: a price from each of the chain's ten
// services, the contracts of two exchanges, usually together, and one trial of the best transaction. What all swaps of
// a block share may be added and, on a busy machine, calls that miss each other's batch, so that the cheapest of many
// swaps counts.
func TestSwapsTakeFewRoundTrips(t *testing.T) {
	recorder := recordSpans(t)
	front := inFrontOf(t, sandboxtest.Shared(t)) // traced
	world := front.facts(t)
	const services, reads, swaps = 10, 3, 100
	least := map[string]int{"http.attempt": math.MaxInt, "rpc.attempt": math.MaxInt}
	for i := 0; i < swaps && (least["http.attempt"] > services || least["rpc.attempt"] > reads); i++ {
		amount := strconv.Itoa(1e18 + i)
		response, body := ask(t, http.MethodGet, front.url+"/v1.0/chain/transaction?"+url.Values{
			"chainId": {"1"}, "tokenIn": {"0x" + strings.Repeat("0", 40)}, "tokenInAmount": {amount},
			"tokenOut": {world.Tokens[1].Address}, "tokenOutRecipient": {world.Accounts[0].Address},
		}.Encode(), "")
		if response.StatusCode != http.StatusOK {
			t.Fatalf("swap of %s = %d %s", amount, response.StatusCode, body)
		}
		id := response.Header.Get("X-Request-Id")
		awaitSpan(t, recorder, id, "GET /v1.0/chain/transaction")
		made := map[string]int{}
		for _, span := range recorder.Ended() {
			if span.SpanContext().TraceID().String() == id {
				made[nameOf(span)]++
			}
		}
		for name := range least {
			least[name] = min(least[name], made[name])
		}
	}
	if got := least["http.attempt"]; got != services {
		t.Errorf("a swap takes %d requests to services, want %d", got, services)
	}
	if got := least["rpc.attempt"]; got < 2 || got > reads {
		t.Errorf("a swap takes %d requests to the chain's node, want at most %d", got, reads)
	}
}

// recordSpans records all spans of the process until the test ends. OpenTelemetry's global provider passes spans to the
// first one ever set. Unless shut down, that one would keep the spans of all later tests.
func recordSpans(t *testing.T) *tracetest.SpanRecorder {
	t.Helper()
	restoreTelemetry(t)
	recorder := tracetest.NewSpanRecorder()
	provider := tracing.NewTracerProvider(tracing.WithSpanProcessor(recorder))
	otel.SetTracerProvider(provider)
	t.Cleanup(func() { must.Do(t, provider.Shutdown(context.Background())) })
	return recorder
}

// nameOf returns a span's name, or the kind of an attempt, whose name is its method.
func nameOf(span tracing.ReadOnlySpan) string {
	kind := span.Name()
	for _, attribute := range span.Attributes() {
		switch {
		case attribute.Key == "rpc.system.name":
			return "rpc.attempt"
		case attribute.Key == "crossgate.attempt":
			kind = "http.attempt"
		}
	}
	return kind
}

func awaitSpan(t *testing.T, recorder *tracetest.SpanRecorder, trace, name string) {
	t.Helper()
	await(t, "span "+name+" of trace "+trace, func() bool {
		return slices.ContainsFunc(recorder.Ended(), func(span tracing.ReadOnlySpan) bool {
			return span.Name() == name && span.SpanContext().TraceID().String() == trace
		})
	})
}
