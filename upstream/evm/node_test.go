package evm_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"crossgate/chain"
	"crossgate/internal/rpctest"
	"crossgate/upstream"
	"crossgate/upstream/evm"
	"crossgate/upstream/jsonrpc"
)

// node answers the JSON-RPC calls of one chain whose content the test sets.
type node struct {
	chainID                uint64
	head                   uint64
	finalized              uint64
	tagless                string              // answer for the finalized block; empty: the block
	blockTime              func(uint64) uint64 // UNIX seconds
	receipts, transactions map[string]json.RawMessage
	numbers                map[string]uint64 // of recorded blocks, by hash
	logs                   []nodeLog         // in block and log order
	// storage answers eth_call; an answer that begins with "!" becomes an error message.
	storage func(to, data string, block uint64) string
	// patched returns the change of an order's amounts; nil leaves that to storage.
	patched func(block uint64) uint64
	// answers overrides results by method, with whole members such as `"result":"0x1"`.
	answers  map[string]string
	maxRange uint64                    // of eth_getLogs; zero: unlimited
	archive  uint64                    // oldest block with state
	pruned   uint64                    // oldest block with logs
	beyond   string                    // answer to searches of blocks after the head; empty: the logs
	forked   uint64                    // first block of another branch; zero: none
	filter   func(block uint64) string // of a header, in hex digits; nil: headers have none

	mu       sync.Mutex
	requests int // HTTP requests since the last reset
	methods  map[string]int

	taggedCalls int // for the finalized block
}

type nodeLog struct {
	block, index   uint64 // number of the block, and position within it
	address, topic string
	raw            json.RawMessage
}

// serve starts the node and returns its chain, with the properties of c that the node does not have.
func (n *node) serve(t *testing.T, c chain.Chain) *evm.Chain {
	t.Helper()
	return evm.New(c, rpcOf(t, n))
}

func serveAll[N http.Handler](t *testing.T, c chain.Chain, nodes ...N) *evm.Chain {
	t.Helper()
	return evm.New(c, rpcOf(t, nodes...))
}

func rpcOf[N http.Handler](t *testing.T, nodes ...N) *jsonrpc.Client {
	t.Helper()
	var endpoints []*upstream.Endpoint
	for i, n := range nodes {
		endpoints = append(endpoints, endpointOf(t, fmt.Sprintf("node-%d", i+1), n))
	}
	return jsonrpc.New(upstream.NewPool("chain", endpoints...))
}

// trips returns the number of HTTP requests since its last call.
func (n *node) trips() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	trips := n.requests
	n.requests = 0
	return trips
}

func (n *node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.requests++
	rpctest.Handler(n.members).ServeHTTP(w, r)
}

func (n *node) members(c rpctest.Call) string {
	if n.methods == nil {
		n.methods = map[string]int{}
	}
	n.methods[c.Method]++
	if members, overridden := n.answers[c.Method]; overridden {
		return members
	}
	return n.result(c)
}

func (n *node) result(c rpctest.Call) string {
	switch c.Method {
	case "eth_chainId":
		return fmt.Sprintf(`"result":"0x%x"`, n.chainID)
	case "eth_getBlockByNumber":
		return n.byNumber(unquote(c.Params[0]))
	case "eth_getBlockByHash":
		hash := unquote(c.Params[0])
		if strings.HasPrefix(hash, "0xb10c") {
			return `"result":` + n.header(numberOf(hash))
		}
		if number, known := n.numbers[hash]; known {
			return `"result":` + strings.Replace(n.header(number), n.hash(number), hash, 1)
		}
		return `"result":null`
	case "eth_getTransactionByHash":
		if tx, known := n.transactions[unquote(c.Params[0])]; known {
			return `"result":` + string(tx)
		}
		var of struct{ TransactionHash, BlockHash, From string }
		if json.Unmarshal(n.receipts[unquote(c.Params[0])], &of) != nil {
			return `"result":null`
		}
		return fmt.Sprintf(`"result":{"hash":%q,"blockHash":%q,"from":%q}`, of.TransactionHash, of.BlockHash, of.From)
	case "eth_getTransactionReceipt":
		if receipt, known := n.receipts[unquote(c.Params[0])]; known {
			return `"result":` + string(receipt)
		}
		return `"result":null`
	case "eth_getLogs":
		return n.search(c.Params[0])
	case "eth_call":
		return n.read(c)
	}
	return rpctest.Fault(-32601, "the method "+c.Method+" does not exist")
}

func (n *node) byNumber(tag string) string {
	switch tag {
	case "latest":
		return `"result":` + n.header(n.head)
	case "finalized":
		n.taggedCalls++
		if n.tagless != "" {
			return n.tagless
		}
		return `"result":` + n.header(n.finalized)
	}
	number := parseQuantity(tag)
	if number > n.head {
		return `"result":null`
	}
	return `"result":` + n.header(number)
}

func (n *node) header(number uint64) string {
	filter := ""
	if n.filter != nil {
		filter = fmt.Sprintf(`,"logsBloom":"0x%s"`, n.filter(number))
	}
	return fmt.Sprintf(`{"number":"0x%x","hash":%q,"parentHash":%q,"timestamp":"0x%x"%s}`,
		number, n.hash(number), n.hash(number-1), n.blockTime(number), filter)
}

// hash returns the hash of a block on the node's branch.
func (n *node) hash(number uint64) string {
	if n.forked != 0 && number >= n.forked {
		return fmt.Sprintf("0xb10d%060x", number)
	}
	return blockHash(number)
}

// blockHash returns a hash that contains the block's number.
func blockHash(number uint64) string { return fmt.Sprintf("0xb10c%060x", number) }

func numberOf(hash string) uint64 { return parseQuantity("0x" + hash[len("0xb10c"):]) }

func (n *node) search(param json.RawMessage) string {
	var filter struct {
		FromBlock, ToBlock, BlockHash string
		Address                       []string
		Topics                        [][]string
	}
	if err := json.Unmarshal(param, &filter); err != nil {
		return rpctest.Fault(-32602, err.Error())
	}
	if filter.BlockHash != "" {
		filter.FromBlock = fmt.Sprintf("0x%x", numberOf(filter.BlockHash))
		filter.ToBlock = filter.FromBlock
	}
	from, to := parseQuantity(filter.FromBlock), parseQuantity(filter.ToBlock)
	if n.maxRange != 0 && to-from+1 > n.maxRange {
		return rpctest.Fault(-32005, fmt.Sprintf("block range exceeds %d", n.maxRange))
	}
	if to > n.head && n.beyond != "" {
		return n.beyond
	}
	if from < n.pruned {
		return rpctest.Fault(-32701, "History has been pruned for this block")
	}
	found := []json.RawMessage{}
	for _, l := range n.logs {
		if l.block >= from && l.block <= to && slices.Contains(filter.Address, l.address) && slices.Contains(filter.Topics[0], l.topic) {
			found = append(found, l.raw)
		}
	}
	text, err := json.Marshal(found)
	if err != nil {
		return rpctest.Fault(-32603, err.Error())
	}
	return `"result":` + string(text)
}

func (n *node) read(c rpctest.Call) string {
	var message struct{ To, Data string }
	if err := json.Unmarshal(c.Params[0], &message); err != nil {
		return rpctest.Fault(-32602, err.Error())
	}
	block := n.head
	if tag := unquote(c.Params[1]); tag != "latest" {
		block = parseQuantity(tag)
	}
	if block < n.archive {
		return rpctest.Fault(-32000, "missing trie node")
	}
	if n.patched != nil && isPatchesQuestion(message.Data) {
		return fmt.Sprintf(`"result":"0x%064x"`, n.patched(block))
	}
	answer := n.storage(message.To, message.Data, block)
	if message, failed := strings.CutPrefix(answer, "!"); failed {
		return rpctest.Fault(3, message)
	}
	return fmt.Sprintf(`"result":%q`, answer)
}

func isPatchesQuestion(data string) bool {
	for _, question := range []string{"givePatches(bytes32)", "takePatches(bytes32)"} {
		if strings.HasPrefix(data, fmt.Sprintf("0x%x", crypto.Keccak256([]byte(question))[:4])) {
			return true
		}
	}
	return false
}

func unquote(raw json.RawMessage) string {
	var text string
	_ = json.Unmarshal(raw, &text)
	return text
}

func parseQuantity(text string) uint64 {
	n, err := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 64)
	if err != nil {
		panic(err)
	}
	return n
}
