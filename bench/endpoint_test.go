package bench

import (
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"
)

// endpoint is one of several in front of the same node. It can be taken down and made slow.
type endpoint struct {
	node    http.Handler
	address string
	server  *http.Server
	late    atomic.Int64 // nanoseconds that it adds to each answer
	asked   atomic.Int64
}

func newEndpoint(b testing.TB, n *node) *endpoint {
	b.Helper()
	e := &endpoint{node: n, address: freeAddress(b)}
	e.goUp(b)
	b.Cleanup(e.goDown)
	return e
}

// goUp serves at the endpoint's address.
func (e *endpoint) goUp(b testing.TB) {
	b.Helper()
	listener, err := net.Listen("tcp", e.address)
	if err != nil {
		b.Error(err)
		return
	}
	server := &http.Server{Handler: e}
	e.server = server
	go func() { _ = server.Serve(listener) }() // until goDown
}

// goDown breaks all connections and takes no new ones.
func (e *endpoint) goDown() { _ = e.server.Close() }

func (e *endpoint) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	e.asked.Add(1)
	if late := time.Duration(e.late.Load()); late > 0 {
		select {
		case <-time.After(late):
		case <-r.Context().Done():
			return
		}
	}
	e.node.ServeHTTP(out, r)
}
