package gateway_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// TestARequestAndItsUpstreamCallsAreOneTrace looks at what a collector would get.
func TestARequestAndItsUpstreamCallsAreOneTrace(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	before := otel.GetTracerProvider()
	otel.SetTracerProvider(trace.NewTracerProvider(trace.WithSpanProcessor(recorder)))
	t.Cleanup(func() { otel.SetTracerProvider(before) })
	front := startFront(t)
	var world worldJSON
	get(t, front.world.URL()+"/sandbox/world", &world)
	account := world.Accounts[0].Address
	for path, wanted := range map[string][]string{
		// Nobody knows this hash, so every chain is asked.
		"/api/Orders/creationTxHash/0x" + strings.Repeat("ef", 32): {"GET /api/Orders/creationTxHash/:creationTxHash", "order.trace", "rpc.attempt"},
		"/v1.0/chain/transaction?" + url.Values{
			"chainId": {"1"}, "tokenIn": {"0x" + strings.Repeat("0", 40)}, "tokenInAmount": {"1000000000000000"},
			"tokenOut": {world.Tokens[1].Address}, "tokenOutRecipient": {account},
		}.Encode(): {"GET /v1.0/chain/transaction", "quote.compare", "quote.venue", "http.attempt", "rpc.attempt"},
	} {
		response, _ := ask(t, http.MethodGet, front.url+path, "")
		id := response.Header.Get("X-Request-Id")
		awaitSpan(t, recorder, id, wanted[0]) // it ends after the answer has left
		seen := map[string]int{}
		for _, span := range recorder.Ended() {
			if span.SpanContext().TraceID().String() == id {
				seen[span.Name()]++
			}
			for _, attribute := range span.Attributes() {
				if text := attribute.Value.String(); strings.Contains(text, "://") {
					t.Errorf("span %s tells a URL: %s", span.Name(), text)
				}
			}
		}
		for _, name := range wanted {
			if seen[name] == 0 {
				t.Errorf("trace %s of %s has %v, want a span %s", id, path, seen, name)
			}
		}
	}
}

func awaitSpan(t *testing.T, recorder *tracetest.SpanRecorder, trace, name string) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); <-tick.C {
		for _, span := range recorder.Ended() {
			if span.Name() == name && span.SpanContext().TraceID().String() == trace {
				return
			}
		}
	}
	t.Fatalf("trace %s has no span %s", trace, name)
}
