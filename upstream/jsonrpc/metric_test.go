package jsonrpc_test

import (
	"context"
	"maps"
	"net/http"
	"sync"
	"testing"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"crossgate/internal/must"
	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

// meters sums the counters' increments by name and attributes.
type meters struct {
	noop.MeterProvider

	mu     sync.Mutex
	counts map[string]int64
}

type counter struct {
	noop.Int64Counter

	name   string
	meters *meters
}

func (m *meters) Meter(string, ...metric.MeterOption) metric.Meter { return meter{meters: m} }

type meter struct {
	noop.Meter

	meters *meters
}

func (m meter) Int64Counter(name string, _ ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	return counter{name: name, meters: m.meters}, nil
}

func (c counter) Add(_ context.Context, n int64, options ...metric.AddOption) {
	set := metric.NewAddConfig(options).Attributes()
	c.meters.mu.Lock()
	defer c.meters.mu.Unlock()
	c.meters.counts[c.name+" "+set.Encoded(attribute.DefaultEncoder())] += n
}

// countFailures records counters until the test ends.
func countFailures(t *testing.T) *meters {
	t.Helper()
	m := &meters{counts: map[string]int64{}}
	before := otel.GetMeterProvider()
	otel.SetMeterProvider(m)
	t.Cleanup(func() { otel.SetMeterProvider(before) })
	return m
}

func TestFailuresAreCountedByClass(t *testing.T) {
	m := countFailures(t)
	options := upstream.EndpointOptions{Attributes: []attribute.KeyValue{attribute.Int("chain", 1)}}
	pool := upstream.NewPool("chain",
		endpoint(t, "html", always(200, "<html>"), options), endpoint(t, "busy", always(429, ""), options),
		endpoint(t, "down", always(503, ""), options), endpoint(t, "good", node(echo), options))
	must.Do(t, jsonrpc.New(pool).Call(t.Context(), "eth_chainId", new(string), "0x1"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := endpoint(t, "left", silent).Do(ctx, upstream.Request{Method: http.MethodGet}); err == nil {
		t.Fatal("a call of a caller who left succeeded")
	}
	want := map[string]int64{
		"crossgate.upstream.failures chain=1,crossgate.endpoint=html,error.type=bad answer":   1,
		"crossgate.upstream.failures chain=1,crossgate.endpoint=busy,error.type=rate limited": 1,
		"crossgate.upstream.failures chain=1,crossgate.endpoint=down,error.type=server error": 1,
		"crossgate.upstream.joined chain=1":                                                   0,
	}
	if !maps.Equal(m.counts, want) {
		t.Errorf("counted %v, want %v", m.counts, want)
	}
}
