package processes_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"

	"crossgate/sandbox/jsonrpc"
)

// spoilt is an endpoint before a chain's node that answers some calls otherwise than the node would.
type spoilt struct {
	url string
	by  atomic.Pointer[func(jsonrpc.Request) (members string)]
}

// startSpoilt has an endpoint before a node answer as the node does, until the test ends.
func startSpoilt(t *testing.T, node string) *spoilt {
	t.Helper()
	to, err := url.Parse(node)
	if err != nil {
		t.Fatal(err)
	}
	s, honest := &spoilt{}, &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL = to }}
	s.spoil(nil)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		const maxBytes = 5 << 20
		by := *s.by.Load()
		jsonrpc.Each(w, r, maxBytes, func(one *http.Request, call jsonrpc.Request, _ int) *jsonrpc.Recorder {
			if by != nil {
				if members := by(call); members != "" {
					return jsonrpc.Answer(call, members)
				}
			}
			one.Header.Del("Accept-Encoding") // what is compressed cannot be put into the answer to a batch
			return jsonrpc.Record(honest, one)
		})
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// spoil has calls answered with other members beside their id; those for which there are none, and all calls without
// by, by the node.
func (s *spoilt) spoil(by func(jsonrpc.Request) (members string)) { s.by.Store(&by) }

// refusing are the answers of a node that lacks methods.
func refusing(methods ...string) func(jsonrpc.Request) string {
	lacks := make(map[string]bool, len(methods))
	for _, each := range methods {
		lacks[each] = true
	}
	return func(call jsonrpc.Request) string {
		if lacks[call.Method] {
			return `"error":{"code":-32000,"message":"not available at the moment"}`
		}
		return ""
	}
}
