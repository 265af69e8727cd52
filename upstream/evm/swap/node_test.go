package swap

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"crossgate/chain"
	"crossgate/internal/pooltest"
	"crossgate/internal/rpctest"
	"crossgate/upstream/evm"
	"crossgate/upstream/jsonrpc"
)

// node answers the JSON-RPC calls of one chain.
type node struct {
	// answers holds whole members by method, such as `"result":"0x1"`.
	answers map[string]string
	// contract answers an eth_call that is not in answers; an answer that begins with "!" becomes an error message.
	contract func(to, data string) string
	pending  string // answers calls on the pending block, unless empty
	down     bool
	reverts  string // what calls revert that have it in their message, unless empty
	isBare   bool   // takes no overrides of states
	// run simulates calls in the last of a number of blocks; nil: there is no eth_simulateV1, unless in answers.
	run func(blocks int) []simulatedResult

	mu       sync.Mutex
	requests int
	methods  map[string]int
}

func (n *node) serve(t *testing.T, c chain.Chain) *evm.Chain {
	t.Helper()
	return serveAll(t, c, n)
}

func serveAll(t *testing.T, c chain.Chain, nodes ...*node) *evm.Chain {
	t.Helper()
	var handlers []http.Handler
	for _, n := range nodes {
		n.methods = map[string]int{}
		handlers = append(handlers, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { n.reply(w, r, c.Native) }))
	}
	return evm.New(c, jsonrpc.New(pooltest.Of(t, handlers...)))
}

func (n *node) reply(w http.ResponseWriter, r *http.Request, native uint64) {
	if n.down {
		http.Error(w, "down", http.StatusServiceUnavailable)
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.requests++
	rpctest.Handler(func(c rpctest.Call) string {
		n.methods[c.Method]++
		if c.Method == "eth_chainId" {
			return fmt.Sprintf(`"result":"0x%x"`, native)
		}
		return n.members(c)
	}).ServeHTTP(w, r)
}

func (n *node) members(c rpctest.Call) string {
	if n.pending != "" && len(c.Params) > 1 && string(c.Params[1]) == `"pending"` {
		return n.pending
	}
	if n.reverts != "" && len(c.Params) > 0 && strings.Contains(string(c.Params[0]), n.reverts) {
		return rpctest.Fault(3, "execution reverted")
	}
	var asked simulatedChain
	if n.run != nil && c.Method == simulateV1 && json.Unmarshal(c.Params[0], &asked) == nil {
		blocks := make([]struct {
			Calls []simulatedResult `json:"calls"`
		}, len(asked.Blocks))
		blocks[len(blocks)-1].Calls = n.run(len(blocks))
		text, _ := json.Marshal(blocks)
		return `"result":` + string(text)
	}
	if n.isBare && len(c.Params) > 2 {
		return rpctest.Fault(-32602, "too many arguments, want at most 2")
	}
	if members, known := n.answers[c.Method]; known {
		return members
	}
	var message struct{ To, Data, Input string }
	if c.Method != "eth_call" || n.contract == nil || json.Unmarshal(c.Params[0], &message) != nil {
		return rpctest.Fault(-32601, "the method "+c.Method+" does not exist")
	}
	answer := n.contract(message.To, cmp.Or(message.Data, message.Input))
	if refusal, isRefused := strings.CutPrefix(answer, "!"); isRefused {
		return rpctest.Fault(3, refusal)
	}
	return fmt.Sprintf(`"result":%q`, answer)
}

// documented returns a chain of the registry, without Multicall3.
func documented(t *testing.T, id chain.ID) chain.Chain {
	t.Helper()
	c, known := chain.Documented().Chain(id)
	if !known {
		t.Fatalf("chain %d is unknown", id)
	}
	c.Contracts.Multicall = chain.Address{}
	return c
}
