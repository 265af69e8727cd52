// Package pooltest lets tests call servers through a pool of endpoints.
package pooltest

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"crossgate/internal/must"
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

// Transport answers requests in place of a network, so that tests can run on synctest's clock.
type Transport func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (t Transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// Near answers with a handler.
func Near(h http.Handler) Transport {
	return func(r *http.Request) (*http.Response, error) {
		answer := httptest.NewRecorder()
		if h.ServeHTTP(answer, r); r.Context().Err() != nil {
			return nil, r.Context().Err()
		}
		return answer.Result(), nil
	}
}

// Answer is a complete HTTP response.
func Answer(status int, body string, headers ...string) *http.Response {
	header := http.Header{}
	for i := 0; i+1 < len(headers); i += 2 {
		header.Set(headers[i], headers[i+1])
	}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body))}
}

// Always answers every request alike.
func Always(status int, body string, headers ...string) Transport {
	return func(*http.Request) (*http.Response, error) { return Answer(status, body, headers...), nil }
}

// Silent returns only when the request is canceled.
func Silent(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// Changing answers as the last call of To says, and counts its requests.
type Changing struct {
	now   atomic.Pointer[Transport]
	Asked atomic.Int64
}

// To sets what answers from now on.
func (c *Changing) To(t Transport) { c.now.Store(&t) }

// Answer is the transport.
func (c *Changing) Answer(r *http.Request) (*http.Response, error) {
	c.Asked.Add(1)
	return (*c.now.Load())(r)
}

// Endpoint returns an endpoint called name with answers as its transport unless nil, and with options, if given.
func Endpoint(tb testing.TB, name string, answers Transport, options ...upstream.EndpointOptions) *upstream.Endpoint {
	tb.Helper()
	o := append(options, upstream.EndpointOptions{})[0]
	o.Name, o.URL = name, cmp.Or(o.URL, "http://"+name+".invalid/")
	if answers != nil {
		o.Transport = answers
	}
	e := must.Get(upstream.NewEndpoint(o))(tb)
	tb.Cleanup(e.Close)
	return e
}

// Serve returns an endpoint called name of a server on loopback, with options, if given; their URL is below the
// server's.
func Serve(tb testing.TB, name string, answer http.Handler, options ...upstream.EndpointOptions) *upstream.Endpoint {
	tb.Helper()
	server := httptest.NewServer(answer)
	tb.Cleanup(server.Close)
	o := append(options, upstream.EndpointOptions{})[0]
	o.URL = server.URL + o.URL
	return Endpoint(tb, name, nil, o)
}
