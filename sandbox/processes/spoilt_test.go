package processes_test

import (
	"net/http/httptest"
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
	s := &spoilt{}
	s.spoil(nil)
	server := httptest.NewServer(jsonrpc.Altered(jsonrpc.At(node), func(call jsonrpc.Request, _ int) string {
		if by := *s.by.Load(); by != nil {
			return by(call)
		}
		return ""
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// spoil has calls answered with other members beside their id; those for which there are none, and all calls without
// by, by the node.
func (s *spoilt) spoil(by func(jsonrpc.Request) (members string)) { s.by.Store(&by) }

// refusing is the answers of a node that lacks a method.
func refusing(method string) func(jsonrpc.Request) string {
	return func(call jsonrpc.Request) string {
		if call.Method == method {
			return `"error":{"code":-32000,"message":"not available at the moment"}`
		}
		return ""
	}
}
