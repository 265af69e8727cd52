package evm_test

import (
	"testing"

	"crossgate/internal/must"
	"crossgate/internal/rpctest"
)

// TestReceiptsOfBlocksAreAskedOfWhoHasThem reads blocks whose filters match by chance although the lists of logs are
// empty: the blocks' receipts decide, if an endpoint returns them. An endpoint without the method is called only once.
func TestReceiptsOfBlocksAreAskedOfWhoHasThem(t *testing.T) {
	for name, test := range map[string]struct {
		has  []bool // whether each endpoint has the method
		want bool   // events are found
	}{
		"nobody":        {[]bool{false}, false},
		"none of two":   {[]bool{false, false}, false},
		"one of two":    {[]bool{false, true}, true},
		"the other one": {[]bool{true, false}, true},
	} {
		t.Run(name, func(t *testing.T) {
			recorded := readRecordings(t)[0]
			var nodes []*provider
			for _, has := range test.has {
				nodes = append(nodes, &provider{recording: recorded, calls: map[string]int{}, refuses: func(c rpctest.Call) string {
					switch {
					case c.Method == "eth_getLogs":
						return `"result":[]`
					case c.Method == "eth_getBlockReceipts" && !has:
						return rpctest.Fault(-32601, "the method eth_getBlockReceipts does not exist")
					}
					return ""
				}})
			}
			c := serveAll(t, recorded.describe(), nodes...)
			found := 0
			for block := uint64(1); block < recorded.Head; block++ {
				recorded.mu.Lock()
				recorded.head = block
				recorded.mu.Unlock()
				must.Get(c.Head(t.Context()))(t)
				found += len(must.Get(c.Events(t.Context(), block, block))(t))
			}
			if (found > 0) != test.want {
				t.Errorf("%d events are found, want some: %v", found, test.want)
			}
			for i, has := range test.has {
				nodes[i].mu.Lock()
				asked := nodes[i].calls["eth_getBlockReceipts"]
				nodes[i].mu.Unlock()
				if !has && asked > 1 {
					t.Errorf("provider %d, which does not have the method, was asked %d times", i+1, asked)
				}
				if has && asked < 2 {
					t.Errorf("provider %d, which has the method, was asked %d times", i+1, asked)
				}
			}
		})
	}
}
