// Package pooltest lets tests call servers through a pool of endpoints.
package pooltest

import (
	"fmt"
	"net/http"
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

// Of returns a pool of endpoints that handlers answer without a network, named node-0, node-1 and so on.
func Of(tb testing.TB, nodes ...http.Handler) *upstream.Pool {
	tb.Helper()
	endpoints := make([]*upstream.Endpoint, len(nodes))
	for i, node := range nodes {
		endpoints[i] = Endpoint(tb, fmt.Sprintf("node-%d", i), Near(node), upstream.EndpointOptions{Timeout: time.Minute})
	}
	return upstream.NewPool("nodes", endpoints...)
}
