package gateway

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"crossgate/order"
)

// TestEndpointsWithAWebSocketAnnounceHeads connects to a configured WebSocket, before and after a reload.
func TestEndpointsWithAWebSocketAnnounceHeads(t *testing.T) {
	var asked atomic.Int64
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") == "websocket" && r.URL.Path == "/canary" && r.Header.Get("X-Key") == "canary" {
			asked.Add(1)
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(node.Close)
	c := parsed(t, `chains: [{id: 1, endpoints: [{name: polled, url: "https://example.com"}, `+
		`{name: node, url: "https://example.com", headers: {X-Key: canary}, websocket: "ws`+strings.TrimPrefix(node.URL, "http")+`/canary"}]}]`)
	first := built(t, c, nil)
	t.Cleanup(first.close)
	second := built(t, c, first)
	t.Cleanup(second.close)
	for _, p := range []*parts{first, second} {
		announcers := p.chains[1].announcers
		if len(announcers) != 1 {
			t.Fatalf("%d announcers of Ethereum's heads, want one", len(announcers))
		}
		err := announcers[0](t.Context(), func(order.Block) {})
		if want := "node: WebSocket: connect: refused with HTTP 404; check the address and the key of websocket"; err == nil || err.Error() != want {
			t.Errorf("the announcer ended with %v, want %s", err, want)
		}
	}
	if asked.Load() != 2 {
		t.Errorf("the WebSocket was asked for %d times with its key, want 2", asked.Load())
	}
}
