// The race detector has sync.Pool forget at random, which counts as allocations.

//go:build !race

package proxy_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestHotHitAllocates bounds the allocations of a request with a cached answer, between the request and the client:
// with tracing on but this request not sampled, and hits not logged. The remaining ones are the request's ID (its text
// and the header's list), Age and Cache-Status, the parsed transaction hash or address, and two that Gin's router makes
// if a path begins like one with a parameter.
func TestHotHitAllocates(t *testing.T) {
	s := newWorld(t).server(t, func(o *parts) {
		o.Logger = slog.New(slog.DiscardHandler)
		o.Traced = 0
	})
	for target, most := range map[string]float64{
		ordersPath + claimedTx:                      9,
		"/api/Orders/" + idText(8):                  6,
		"/api/Satistics/" + taker + "/lockedAssets": 6,
	} {
		for _, coding := range []string{"", "gzip, deflate, br, zstd"} {
			request := httptest.NewRequest(http.MethodGet, target, http.NoBody)
			request.Header.Set("Accept-Encoding", coding)
			handler, client := s.Handler(), &silent{header: http.Header{}}
			handler.ServeHTTP(client, request)
			for !strings.HasPrefix(client.header.Get("Cache-Status"), "crossgate; hit") { // it is not in the store yet
				handler.ServeHTTP(client, request)
			}
			got := testing.AllocsPerRun(100, func() {
				clear(client.header)
				handler.ServeHTTP(client, request)
			})
			if client.status != http.StatusOK || got > most {
				t.Errorf("GET %s, Accept-Encoding %q: HTTP %d with %v allocations, want %v at most", target, coding, client.status, got, most)
			}
		}
	}
}
