// Package balancer imitates a provider's load balancer: it hands each call, even within a batch, to a node of its
// choice. Some nodes lag, some lack entries. Rules set how often that happens, and a seed selects the affected calls,
// so that a test can be repeated. It knows the shape of JSON-RPC and the names of methods, but no chain.
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

// New returns a balancer over a chain's nodes; nodes returns one that lags by a number of blocks or slots.
func New(nodes func(behind uint64) http.Handler, seed uint64, rules ...Rule) *Balancer {
	return &Balancer{nodes: nodes, rules: rules, random: rand.New(rand.NewPCG(seed, 0))}
}

// Bad returns how many answers came from a node that lagged or lacked something.
func (b *Balancer) Bad() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bad
}

// ServeHTTP answers each call of a request separately.
func (b *Balancer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	jsonrpc.Each(w, r, maxRequestBytes, func(one *http.Request, call jsonrpc.Request, _ int) *jsonrpc.Recorder {
		return b.call(one, call)
	})
}

// call passes one call to a node and spoils the answer according to the rules.
func (b *Balancer) call(one *http.Request, asked jsonrpc.Request) *jsonrpc.Recorder {
	told := jsonrpc.Record(b.nodes(b.behind()), one)
	var object map[string]json.RawMessage
	if json.Unmarshal(told.Body.Bytes(), &object) != nil || object["result"] == nil {
		return told
	}
	if spoilt, isSpoilt := b.spoil(asked.Method, object["result"]); isSpoilt {
		object["result"] = spoilt
		told.Body.Reset()
		_ = json.NewEncoder(&told.Body).Encode(object) // it was JSON before
	}
	return told
}

// behind chooses how far the answering node lags.
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

// Methods whose results nodes forget, fully or in part.
var (
	lists   = []string{"eth_getLogs", "getSignaturesForAddress"}
	records = []string{
		"eth_getBlockByNumber", "eth_getBlockByHash", "eth_getTransactionByHash", "eth_getTransactionReceipt", "getTransaction",
	}
)

// spoil removes from a method's result what a node has forgotten.
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
