package jsonrpc_test

import (
	"context"
	"maps"
	"net/http"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"

	"crossgate/internal/measured"
	"crossgate/internal/must"
	"crossgate/internal/pooltest"
	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

// counters are the values of counters among measurements.
func counters(measured map[string]float64) map[string]float64 {
	maps.DeleteFunc(measured, func(name string, _ float64) bool {
		return strings.HasPrefix(name, "crossgate.upstream.attempt.duration{")
	})
	return measured
}

func TestFailuresAreCountedByClass(t *testing.T) {
	now := measured.Start(t)
	options := upstream.EndpointOptions{Attributes: []attribute.KeyValue{attribute.Int("chain", 1)}}
	pool := upstream.NewPool("chain",
		pooltest.Endpoint(t, "html", pooltest.Always(200, "<html>"), options), pooltest.Endpoint(t, "busy", pooltest.Always(429, ""), options),
		pooltest.Endpoint(t, "down", pooltest.Always(503, ""), options), pooltest.Endpoint(t, "good", node(echo), options))
	must.Do(t, jsonrpc.New(pool).Call(t.Context(), "eth_chainId", new(string), "0x1"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := pooltest.Endpoint(t, "left", pooltest.Silent).Do(ctx, upstream.Request{Method: http.MethodGet}); err == nil {
		t.Fatal("a call of a caller who left succeeded")
	}
	want := map[string]float64{
		"crossgate.upstream.failures{chain=1,crossgate.endpoint=html,error.type=bad answer,}":   1,
		"crossgate.upstream.failures{chain=1,crossgate.endpoint=busy,error.type=rate limited,}": 1,
		"crossgate.upstream.failures{chain=1,crossgate.endpoint=down,error.type=server error,}": 1,
		"crossgate.upstream.joined{chain=1,}":                                                   0,
	}
	if counted := counters(now()); !maps.Equal(counted, want) {
		t.Errorf("counted %v, want %v", counted, want)
	}
}
