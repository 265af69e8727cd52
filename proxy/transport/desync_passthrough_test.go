package transport

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"testing"

	"crossgate/internal/must"
	"crossgate/proxy/passthrough"
	"crossgate/upstream"
)

// behind is an origin for package passthrough.
type behind struct{ pool *upstream.Pool }

func (b behind) Forward(ctx context.Context, _ string, f upstream.Forward) (*http.Response, error) {
	return b.pool.Forward(ctx, f)
}

// listenOnLoopback is a listener that the test closes by its server.
func listenOnLoopback(t *testing.T) net.Listener {
	t.Helper()
	return must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
}

// passingOn is a server that passes everything on to an address, with bodies as streams and a cache.
func passingOn(t *testing.T, address string) string {
	t.Helper()
	endpoint := must.Get(upstream.NewEndpoint(upstream.EndpointOptions{Name: "origin", URL: "http://" + address, Forwards: true}))(t)
	t.Cleanup(endpoint.Close)
	through := must.Get(passthrough.New(passthrough.Options{
		Origins: behind{upstream.NewPool("origin", endpoint)}, MaxBytes: 8 << 20, Logger: slog.New(slog.DiscardHandler),
		Client: func(*http.Request) netip.Addr { return netip.Addr{} },
		Fail: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusBadGateway)
		},
	}))(t)
	t.Cleanup(through.Close)
	through.Configure([]passthrough.Host{{Name: "o", MaxBody: 1 << 20}})
	listener := listenOnLoopback(t)
	servingOn(t, listener, through.ServeHTTP, func(o *Options) { o.Stream = func(*http.Request) bool { return true } })
	return listener.Addr().String()
}

// TestNobodyIsAnsweredForAnotherByAnOrigin sends attacks to a server that passes them on, with proxies in front of it and
// behind it that keep connections for all of their clients. What is cached must be right as well: each client asks twice.
func TestNobodyIsAnsweredForAnotherByAnOrigin(t *testing.T) {
	if os.Getenv(desyncVariable) == "" {
		t.Skipf("takes minutes: %s=1 has it run", desyncVariable)
	}
	for _, pair := range [][2]string{{"", "nginx lax"}, {"", "haproxy lax"}, {"nginx lax", "haproxy"}, {"haproxy lax", "nginx kept"}} {
		t.Run(fmt.Sprintf("%s before, %s behind", pair[0], pair[1]), func(t *testing.T) {
			origin := listenOnLoopback(t)
			servingOn(t, origin, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Cache-Control", "max-age=100")
				_, _ = io.WriteString(w, r.URL.Path)
			}, func(o *Options) { o.BodyBytes = 64 << 10 })
			address := passingOn(t, fronts[pair[1]].start(t, origin.Addr().String()))
			if pair[0] != "" {
				address = fronts[pair[0]].start(t, address)
			}
			attackAll(t, address)
		})
	}
}
