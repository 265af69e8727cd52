package gateway

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"testing"

	"crossgate/store"
	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

// TestWhatEndpointsLackIsKnownAfterARestart has an endpoint refuse a method and a wide search to one gateway, and the
// next one know both without asking.
func TestWhatEndpointsLackIsKnownAfterARestart(t *testing.T) {
	db, err := store.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "orders.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	node := &trioNode{takes: 2, span: 700, chain: quickChain{}, random: newRandom(1)}
	started := func() (*book, *jsonrpc.Client) {
		e, err := upstream.NewEndpoint(upstream.EndpointOptions{Name: "node", URL: "http://node.invalid", Client: &http.Client{Transport: node}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(e.Close)
		client := jsonrpc.New(upstream.NewPool("chain", e))
		known := client.Capabilities("node")
		book := newCapabilityBook(db, func() []ability { return []ability{{"56", "node", known}} }, slog.New(slog.DiscardHandler))
		book.update(t.Context())
		return book, client
	}
	book, client := started()
	wide := &jsonrpc.Call{
		Method: "eth_getLogs", Params: []any{map[string]string{"fromBlock": "0x1", "toBlock": "0x1388"}}, Out: new(json.RawMessage),
		Reach: jsonrpc.Reach{Blocks: 5000},
	}
	lacking := &jsonrpc.Call{Method: "eth_simulateV1", Out: new(json.RawMessage)}
	_ = client.Batch(t.Context(), wide)    // refused
	_ = client.Batch(t.Context(), lacking) // refused
	book.update(t.Context())

	_, again := started()
	limits, _ := again.Capabilities("node").Known()
	if limits.Span != 2500 || !slices.Contains(limits.Lacks, "eth_simulateV1") {
		t.Errorf("after a restart %+v is known, want searches of half of 5000 blocks and no eth_simulateV1", limits)
	}
}

// TestLimitsAreSaidInWords has all of them.
func TestLimitsAreSaidInWords(t *testing.T) {
	known := jsonrpc.Limits{
		Span: 700, Batch: 3,
		Depths: map[string]uint64{"logs": 90_000, "blocks": 80_000, "state": 128}, Lacks: []string{"eth_getLogs topics", "eth_simulateV1"},
	}
	want := []string{
		"searches 700 blocks", "takes 3 calls at once", "blocks: newest 80000", "logs: newest 90000", "state: newest 128",
		"no eth_getLogs topics", "no eth_simulateV1",
	}
	if got := LimitsInWords(known); !slices.Equal(got, want) {
		t.Errorf("limits are %q, want %q", got, want)
	}
}
