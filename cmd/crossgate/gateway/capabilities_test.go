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
	started := func() (*capabilityBook, *jsonrpc.Client) {
		e, err := upstream.NewEndpoint(upstream.EndpointOptions{Name: "node", URL: "http://node.invalid", Client: &http.Client{Transport: node}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(e.Close)
		client := jsonrpc.New(upstream.NewPool("chain", e))
		known := client.Capabilities("node")
		book := &capabilityBook{
			store: db, log: slog.New(slog.DiscardHandler), abilities: func() []ability { return []ability{{"56", "node", known}} },
		}
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
	if limits.Span != 700 || !slices.Contains(limits.Lacks, "eth_simulateV1") {
		t.Errorf("after a restart %+v is known, want searches of 700 blocks and no eth_simulateV1", limits)
	}
}
