// Package balancer is what a provider puts in front of its nodes: it hands each call, also each of a batch, to a node
// of its choice. Some nodes are behind, some have forgotten entries. Rules say how bad it is, a seed which calls it
// meets, so that a test can be run again. It knows the shape of JSON-RPC and the names of methods, and no chain.
package balancer

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"

	"crossgate/sandbox/jsonrpc"
)

const maxRequestBytes = 5 << 20

// Balancer is one endpoint over several nodes. It may be called from any goroutine.
type Balancer struct {
	nodes func(behind uint64) http.Handler
	rules []Rule

	mu     sync.Mutex
	random *rand.Rand
	bad    int
}

// New returns a balancer over the nodes of a chain, which nodes returns by how many blocks or slots they are behind.
func New(nodes func(behind uint64) http.Handler, seed uint64, rules ...Rule) *Balancer {
	return &Balancer{nodes: nodes, rules: rules, random: rand.New(rand.NewPCG(seed, 0))}
}

// Bad is how many answers came from a node that is behind, or lacked something.
func (b *Balancer) Bad() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bad
}

// ServeHTTP answers each call of a request by itself.
func (b *Balancer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	jsonrpc.Each(w, r, maxRequestBytes, func(one *http.Request, call jsonrpc.Request, _ int) *jsonrpc.Recorder {
		return b.call(one, call)
	})
}

// call has a node answer one call, and spoils the answer as the rules say.
func (b *Balancer) call(one *http.Request, asked jsonrpc.Request) *jsonrpc.Recorder {
	told := jsonrpc.Record(b.nodes(b.behind()), one)
	var object map[string]json.RawMessage
	if json.Unmarshal(told.Body.Bytes(), &object) != nil || object["result"] == nil {
		return told
	}
	if spoilt, isSpoilt := b.spoil(asked.Method, object["result"]); isSpoilt {
		object["result"] = spoilt
		told.Body.Reset()
		_ = json.NewEncoder(&told.Body).Encode(object) // JSON a moment ago
	}
	return told
}

// behind chooses a node.
func (b *Balancer) behind() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, rule := range b.rules {
		blocks := rule.blocks
		switch {
		case rule.name != lag && rule.name != split, b.random.Float64() >= rule.share:
			continue
		case rule.name == split:
			blocks = b.random.Uint64N(blocks + 1)
		}
		if blocks > 0 {
			b.bad++
		}
		return blocks
	}
	return 0
}

// What methods answer that nodes forget.
var (
	lists   = []string{"eth_getLogs", "getSignaturesForAddress"}
	records = []string{
		"eth_getBlockByNumber", "eth_getBlockByHash", "eth_getTransactionByHash", "eth_getTransactionReceipt", "getTransaction",
	}
)

// spoil leaves out what a node has forgotten of a method's result.
func (b *Balancer) spoil(method string, result json.RawMessage) (spoilt json.RawMessage, isSpoilt bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, rule := range b.rules {
		switch {
		case rule.name == null && slices.Contains(records, method) && b.random.Float64() < rule.share:
			result, isSpoilt = json.RawMessage("null"), true
		case rule.name == empty && slices.Contains(lists, method) && b.random.Float64() < rule.share:
			result, isSpoilt = json.RawMessage("[]"), true
		case rule.name == drop && slices.Contains(lists, method):
			var entries []json.RawMessage
			_ = json.Unmarshal(result, &entries)
			left := slices.DeleteFunc(slices.Clone(entries), func(json.RawMessage) bool { return b.random.Float64() < rule.share })
			if len(left) < len(entries) {
				result, _ = json.Marshal(left)
				isSpoilt = true
			}
		}
	}
	if isSpoilt {
		b.bad++
	}
	return result, isSpoilt
}
