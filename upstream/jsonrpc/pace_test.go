package jsonrpc_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/internal/must"
	"crossgate/internal/rpctest"
	"crossgate/upstream/jsonrpc"
)

// TestMethodsThatAreLimitedMoreThanOthers uses an endpoint that refuses searches for their rate, either naming the
// method or within a batch whose other calls it answers: other methods are called immediately, searches a moment later.
// Meanwhile another endpoint serves searches, and is not slowed.
func TestMethodsThatAreLimitedMoreThanOthers(t *testing.T) {
	for name, test := range map[string]struct {
		words  string
		beside bool // the search comes with another call
	}{
		"named":   {"eth_getLogs is limited to 2 requests per second on this plan", false},
		"as one":  {"Too many requests for a specific RPC call", false}, // Solana's public endpoint
		"unnamed": {"rate limit exceeded", true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := map[string]int{}
				limited := node(func(call rpctest.Call) string {
					asked[call.Method]++
					if call.Method == "eth_getLogs" {
						return `"error":{"code":-32005,"message":"` + test.words + `"}`
					}
					return `"result":"limited"`
				})
				free := says(`"result":"free"`)
				client := rpc(t, limited, free)
				ask := func(methods ...string) (answered []string) {
					calls := make([]*jsonrpc.Call, len(methods))
					for i, method := range methods {
						calls[i] = &jsonrpc.Call{Method: method, Out: new(string)}
					}
					must.Do(t, client.Batch(t.Context(), calls...))
					for _, call := range calls {
						answered = append(answered, *call.Out.(*string))
					}
					return answered
				}
				if test.beside {
					ask("eth_getLogs", "eth_blockNumber")
				} else {
					ask("eth_getLogs")
				}
				for range 3 {
					if got := ask("eth_getLogs")[0]; got != "free" {
						t.Errorf("a search is answered by %q", got)
					}
				}
				if test.beside {
					ask("eth_blockNumber")
				}
				if asked["eth_getLogs"] != 1 {
					t.Errorf("searches were asked for %d times at the endpoint that refuses them, want once", asked["eth_getLogs"])
				}
			})
		})
	}
}

// TestOtherMethodsDoNotWait uses a single endpoint that has refused a search: searches wait, other calls do not.
func TestOtherMethodsDoNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		searches := 0
		client := rpc(t, node(func(call rpctest.Call) string {
			if call.Method != "eth_getLogs" {
				return `"result":"0x1"`
			}
			if searches++; searches == 1 {
				return `"error":{"code":-32005,"message":"eth_getLogs: too many requests, retry in 5s"}`
			}
			return `"result":[]`
		}))
		hurried, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_ = client.Call(hurried, "eth_getLogs", new(json.RawMessage)) // refused
		began := time.Now()
		if err := client.Call(t.Context(), "eth_blockNumber", new(string)); err != nil || time.Since(began) > 0 {
			t.Errorf("another call waited for %v, %v", time.Since(began), err)
		}
		if err := client.Call(hurried, "eth_getLogs", new(json.RawMessage)); err == nil || searches != 1 {
			t.Errorf("a search within a second was sent: %v, %d of them", err, searches)
		}
		if err := client.Call(t.Context(), "eth_getLogs", new(json.RawMessage)); err != nil || time.Since(began) != 5*time.Second {
			t.Errorf("a search waited for %v, %v, want 5 s", time.Since(began), err)
		}
	})
}
