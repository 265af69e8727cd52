package upstream_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	tracing "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace/noop"

	"crossgate/internal/measured"
	"crossgate/internal/must"
	"crossgate/internal/pooltest"
	"crossgate/upstream"
)

// recordSpans records the spans started until the test ends, in order of their start.
func recordSpans(t *testing.T) *tracetest.SpanRecorder {
	recorder := tracetest.NewSpanRecorder()
	otel.SetTracerProvider(tracing.NewTracerProvider(tracing.WithSpanProcessor(recorder)))
	t.Cleanup(func() { otel.SetTracerProvider(noop.NewTracerProvider()) })
	return recorder
}

// saidBy returns the attributes of a span by key.
func saidBy(span tracing.ReadOnlySpan) map[string]attribute.Value {
	said := map[string]attribute.Value{}
	for _, each := range span.Attributes() {
		said[string(each.Key)] = each.Value
	}
	return said
}

func TestAttemptsAreSpansWithoutURLs(t *testing.T) {
	recorder := recordSpans(t)
	secretive := upstream.EndpointOptions{
		URL: "http://account-0123456789.provider.invalid:8545/key-0123456789", Attributes: []attribute.KeyValue{attribute.Int("crossgate.chain.id", 137)},
	}
	pool := upstream.NewPool("chain", pooltest.Endpoint(t, "a", pooltest.Always(502, ""), secretive), pooltest.Endpoint(t, "b", pooltest.Always(200, "{}"), secretive))
	call := upstream.Request{Body: []byte("{}"), Kind: "eth_chainId", Attributes: func() []attribute.KeyValue {
		return []attribute.KeyValue{attribute.String("rpc.method", "eth_chainId")}
	}}
	must.Get(pool.Do(t.Context(), call, nil))(t)
	must.Get(pool.Endpoints()[1].Probe(t.Context(), call))(t)
	spans := recorder.Ended()
	if len(spans) != 3 || len(recorder.Started()) != 3 || saidBy(spans[2])["crossgate.attempt"].AsInt64() != 1 {
		t.Fatalf("%d spans, want one for each attempt, and a probe's as a first one", len(spans))
	}
	for i, want := range []struct{ endpoint, outcome string }{{"a", "server error"}, {"b", "ok"}} {
		said := saidBy(spans[i])
		if spans[i].Name() != "eth_chainId" || said["crossgate.endpoint"].AsString() != want.endpoint || said["crossgate.outcome"].AsString() != want.outcome ||
			said["crossgate.attempt"].AsInt64() != int64(i+1) || said["rpc.method"].AsString() != "eth_chainId" || said["crossgate.chain.id"].AsInt64() != 137 {
			t.Errorf("span %d is %q and has %v", i, spans[i].Name(), said)
		}
		for key, value := range said {
			if strings.Contains(value.String(), "0123456789") {
				t.Errorf("attribute %s = %s tells the URL", key, value.String())
			}
		}
	}
}

// TestBothAttemptsOfARaceHaveOutcomes checks the outcomes of both attempts of a race, whichever of them wins.
func TestBothAttemptsOfARaceHaveOutcomes(t *testing.T) {
	for want, second := range map[string]time.Duration{"won": 20 * time.Millisecond, "lost": 5 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			recorder := recordSpans(t)
			p := newPair(t, time.Second, second) // nothing is known of them, so the hedge begins after half a second
			p.ask(t)
			started := recorder.Started()
			if len(started) != 2 {
				t.Fatalf("%d spans, want one for each attempt", len(started))
			}
			first, hedge := saidBy(started[0]), saidBy(started[1])
			outcomes := map[string]string{"won": "canceled ok", "lost": "ok canceled"}
			if got := first["crossgate.outcome"].AsString() + " " + hedge["crossgate.outcome"].AsString(); got != outcomes[want] {
				t.Errorf("when the hedge %s, the outcomes are %s, want %s", want, got, outcomes[want])
			}
		})
	}
}

// TestRequestsThatWaitForTheRateAreMeasured sends three requests to an endpoint that allows one a second.
func TestRequestsThatWaitForTheRateAreMeasured(t *testing.T) {
	now := measured.Start(t)
	const ofLimited, ofFree = "crossgate.upstream.budget.waiting{crossgate.endpoint=limited,}", "crossgate.upstream.budget.waiting{crossgate.endpoint=free,}"
	synctest.Test(t, func(t *testing.T) {
		limited := pooltest.Endpoint(t, "limited", pooltest.Always(200, "{}"), upstream.EndpointOptions{RequestsPerSecond: 1, Burst: 1})
		free := pooltest.Endpoint(t, "free", pooltest.Always(200, "{}"), upstream.EndpointOptions{})
		defer upstream.Observe(limited, free)()
		done := make(chan error)
		for range 3 {
			go func() {
				_, err := limited.Do(t.Context(), upstream.Request{})
				done <- err
			}()
		}
		synctest.Wait()
		found := now()
		if _, known := found[ofFree]; known || found[ofLimited] != 2 {
			t.Errorf("%v requests wait, want 2 at the one endpoint that has a rate: %v", found[ofLimited], found)
		}
		for range 3 {
			must.Do(t, <-done)
		}
		if waiting, known := now()[ofLimited]; !known || waiting != 0 {
			t.Errorf("%v requests wait at the end, want none", waiting)
		}
	})
}
