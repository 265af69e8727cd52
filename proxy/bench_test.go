package proxy_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
)

// silent is a client's connection that accepts everything and discards it.
type silent struct {
	header http.Header
	status int
}

func (s *silent) Header() http.Header               { return s.header }
func (s *silent) WriteHeader(status int)            { s.status = status }
func (s *silent) Write(body []byte) (int, error)    { return len(body), nil }
func (s *silent) WriteString(b string) (int, error) { return len(b), nil }

// BenchmarkHit measures a request with a cached answer, end to end except for the network.
func BenchmarkHit(b *testing.B) {
	s := newWorld(b).server(b, func(o *parts) { o.Logger = slog.New(slog.DiscardHandler) })
	for name, target := range map[string]string{
		"order":    ordersPath + claimedTx,
		"locked":   "/api/Satistics/" + taker + "/lockedAssets",
		"notfound": "/nothing",
	} {
		b.Run(name, func(b *testing.B) {
			request := httptest.NewRequest(http.MethodGet, target, http.NoBody)
			handler, client := s.Handler(), &silent{header: http.Header{}}
			b.ReportAllocs()
			for b.Loop() {
				clear(client.header)
				handler.ServeHTTP(client, request)
			}
		})
	}
}
