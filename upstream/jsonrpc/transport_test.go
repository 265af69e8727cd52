package jsonrpc_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"crossgate/upstream"
)

// transport answers requests in place of a network, so that tests can run on synctest's clock.
type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// answer is a complete HTTP response.
func answer(status int, body string, headers ...string) *http.Response {
	header := http.Header{}
	for i := 0; i+1 < len(headers); i += 2 {
		header.Set(headers[i], headers[i+1])
	}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body))}
}

// always answers every request alike.
func always(status int, body string, headers ...string) transport {
	return func(*http.Request) (*http.Response, error) { return answer(status, body, headers...), nil }
}

// changing answers as the last call of to says, and counts its requests.
type changing struct {
	now   atomic.Pointer[transport]
	asked atomic.Int64
}

func (c *changing) to(t transport) { c.now.Store(&t) }

func (c *changing) answer(r *http.Request) (*http.Response, error) {
	c.asked.Add(1)
	return (*c.now.Load())(r)
}

// silent returns only when the request is canceled.
func silent(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// endpoint returns an endpoint called name with answers as its transport, and with options, if given.
func endpoint(t *testing.T, name string, answers transport, options ...upstream.EndpointOptions) *upstream.Endpoint {
	t.Helper()
	var o upstream.EndpointOptions
	if len(options) > 0 {
		o = options[0]
	}
	o.Name = name
	if o.URL == "" {
		o.URL = "http://" + name + ".invalid/"
	}
	o.Transport = answers
	e, err := upstream.NewEndpoint(o)
	if err != nil {
		t.Fatalf("NewEndpoint(%s): %v", name, err)
	}
	t.Cleanup(e.Close)
	return e
}

func classOf(err error) upstream.Class {
	var classed *upstream.Error
	if errors.As(err, &classed) {
		return classed.Class
	}
	return 0
}
