// Package pooltest lets tests call servers through a pool of endpoints.
package pooltest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"crossgate/upstream"
)

// At returns a pool of the endpoints at addresses, named node-0, node-1 and so on.
func At(tb testing.TB, addresses ...string) *upstream.Pool {
	tb.Helper()
	var endpoints []*upstream.Endpoint
	for i, address := range addresses {
		endpoints = append(endpoints, Endpoint(tb, fmt.Sprintf("node-%d", i), nil, upstream.EndpointOptions{URL: address, Timeout: time.Minute}))
	}
	return upstream.NewPool("nodes", endpoints...)
}

// Of returns a pool of servers, which end with the test.
func Of(tb testing.TB, nodes ...http.Handler) *upstream.Pool {
	tb.Helper()
	addresses := make([]string, len(nodes))
	for i, node := range nodes {
		server := httptest.NewServer(node)
		tb.Cleanup(server.Close)
		addresses[i] = server.URL
	}
	return At(tb, addresses...)
}
