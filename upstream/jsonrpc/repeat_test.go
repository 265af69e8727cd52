package jsonrpc_test

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"

	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

// A failure that may pass is repeated at the same endpoint, and only the calls that it hit; what the endpoint would say
// again is not.
func TestEachRepeatsWhatMayPass(t *testing.T) {
	object := func(code, message string) transport {
		return node(func(rpcCall) string { return `"error":{"code":` + code + `,"message":"` + message + `"}` })
	}
	for name, test := range map[string]struct {
		failing  transport
		repeated bool
	}{
		"no JSON":                     {always(200, "<html>Just a moment...</html>"), true},
		"inner error":                 {object("-32603", "Internal error"), true},
		"inner error with its reason": {object("-32603", "execution reverted"), false},
		"429":                         {always(429, ""), true},
		"429 that says for how long":  {always(429, "", "Retry-After", "1"), false},
		"429 in an object":            {object("429", "slow down"), true},
		"500":                         {always(500, ""), true},
		"broken connection":           {func(*http.Request) (*http.Response, error) { return nil, errors.New("reset by peer") }, true},
		"unknown method":              {object("-32601", "the method does not exist"), false},
		"pruned state":                {object("-32000", "missing trie node"), false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				requests := 0
				client := jsonrpc.New(upstream.NewPool("chain", endpoint(t, "only", func(r *http.Request) (*http.Response, error) {
					if requests++; requests == 1 || test.repeated && requests < 4 {
						return test.failing(r)
					}
					return node(func(rpcCall) string { return `"result":"it"` })(r)
				})))
				var found string
				call := jsonrpc.NewCall(&found, nil, "find")
				client.Each(t.Context(), call)
				if (call.Err == nil) != test.repeated || (requests > 1) != test.repeated {
					t.Errorf("%v after %d requests", call.Err, requests)
				}
			})
		})
	}
}
