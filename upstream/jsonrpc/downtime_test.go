package jsonrpc_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

// A node, or what stands before it, says that it is unavailable and for how long, with whatever body. In the background
// it is left alone for that long. Who waits for an answer gets it as soon as there is one: at once from another
// endpoint, or from the only one.
func TestUnavailableNodesAreLeftAloneInTheBackground(t *testing.T) {
	for name, body := range map[string]string{
		"nothing":                 "",
		"a page":                  "<html><body><h1>503 Service Temporarily Unavailable</h1></body></html>",
		"a line":                  "no available server",
		"an error of a node":      `{"jsonrpc":"2.0","id":1,"error":{"code":-32010,"message":"backend offline"}}`,
		"an error without a word": `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"sorry"}}`,
	} {
		for _, after := range []string{"5", "60"} {
			t.Run(name+" for "+after+" s", func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var asked atomic.Int64
					var isBack atomic.Bool
					e := endpoint(t, "node", func(r *http.Request) (*http.Response, error) {
						asked.Add(1)
						if isBack.Load() {
							return node(echo)(r)
						}
						return &http.Response{
							StatusCode: http.StatusServiceUnavailable, Header: http.Header{"Retry-After": {after}},
							Body: io.NopCloser(strings.NewReader(body)),
						}, nil
					})
					client := jsonrpc.New(upstream.NewPool("chain", e))
					call := func(ctx context.Context) error {
						ctx, cancel := context.WithTimeout(ctx, time.Second)
						defer cancel()
						return client.Call(ctx, "eth_blockNumber", new(string), "mine")
					}
					if err := call(upstream.Background.For(t.Context())); err == nil {
						t.Fatal("an answer of a node that is unavailable")
					}
					before := asked.Load()
					var refused *upstream.Error
					if err := call(upstream.Background.For(t.Context())); !errors.As(err, &refused) || refused.RetryAfter == 0 || asked.Load() != before {
						t.Errorf("in the background: %v after %d requests, want to wait", err, asked.Load()-before)
					}
					<-time.After(time.Millisecond)
					isBack.Store(true)
					if err := call(t.Context()); err != nil {
						t.Errorf("for who waits: %v, want an answer at once", err)
					}
					if err := call(upstream.Background.For(t.Context())); err != nil {
						t.Errorf("in the background after an answer: %v, want another", err)
					}
				})
			})
		}
	}
}
