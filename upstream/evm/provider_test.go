package evm_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"crossgate/internal/rpctest"
)

// provider is a balancer in front of nodes that serve a recording badly, by rules like those of bad-provider.mjs.
type provider struct {
	*recording
	rules []string
	alter func(method, members string) string // nil: alters nothing deliberately
	// refuses returns the error for a call, or empty; nil refuses nothing deliberately.
	refuses func(c rpctest.Call) string

	mu     sync.Mutex
	random *rand.Rand
	bad    int            // number of bad answers
	calls  map[string]int // by method; nil: not counted
}

// chance reports whether a rule applies this time, and returns its arguments.
func (p *provider) chance(name string) (arguments []string, applies bool) {
	for _, rule := range p.rules {
		parts := strings.Split(rule, ":")
		odds, _ := strconv.ParseFloat(parts[len(parts)-1], 64)
		if parts[0] == name && p.random.Float64() < odds {
			p.bad++
			return parts[1:], true
		}
	}
	return nil, false
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	rpctest.Handler(p.members).ServeHTTP(w, r)
}

func (p *provider) members(c rpctest.Call) string {
	if p.calls != nil {
		p.calls[c.Method]++
	}
	members := ""
	if p.refuses != nil {
		members = p.refuses(c)
	}
	if members == "" {
		members = p.result(c)
	}
	if p.alter != nil {
		members = p.alter(c.Method, members)
	}
	if _, lies := p.chance("lie"); lies {
		members = p.lie(c.Method, members)
	}
	return members
}

// lie alters a result: a list is emptied, shortened, altered, or taken from elsewhere.
func (p *provider) lie(method, members string) string {
	var told struct{ Result any }
	_ = json.Unmarshal([]byte("{"+members+"}"), &told)
	switch result := told.Result.(type) {
	case []any:
		if len(result) > 0 && method == "eth_getLogs" {
			told.Result = p.lieOfLogs(result)
		} else if len(result) > 0 {
			told.Result = result[:p.random.IntN(len(result))]
		}
	case map[string]any:
		switch {
		case method == "eth_getTransactionReceipt" && p.random.IntN(2) == 0:
			told.Result = nil
		case result["logsBloom"] != nil && p.random.IntN(2) == 0:
			result["logsBloom"] = "0x" + strings.Repeat("0", 512)
		case result["logsBloom"] != nil:
			result["logsBloom"] = flipped(result["logsBloom"].(string), p.random.IntN(512))
		}
	}
	text, _ := json.Marshal(told.Result)
	return `"result":` + string(text)
}

func (p *provider) lieOfLogs(logs []any) []any {
	at := p.random.IntN(len(logs))
	changed := maps.Clone(logs[at].(map[string]any))
	switch p.random.IntN(6) {
	case 0:
		return []any{}
	case 1:
		return slices.Delete(slices.Clone(logs), at, at+1)
	case 2:
		return logs[:at]
	case 3: // altered
		data := changed["data"].(string)
		changed["data"] = flipped(data, p.random.IntN(max(len(data)-2, 1)))
	case 4: // of a transaction that does not exist
		changed["transactionHash"] = "0x" + strings.Repeat("0d", 32)
	case 5: // of another fork
		changed["blockHash"] = "0x" + strings.Repeat("f0", 32)
	}
	logs = slices.Clone(logs)
	logs[at] = changed
	return logs
}

// flipped changes one bit of a hex text, in the digit at place.
func flipped(text string, place int) string {
	digits := []byte(text)
	if place += 2; place >= len(digits) {
		return text
	}
	value, _ := strconv.ParseUint(string(digits[place]), 16, 8)
	digits[place] = strconv.FormatUint(value^1, 16)[0]
	return string(digits)
}

func (p *provider) result(c rpctest.Call) string {
	head := p.newest(c.Method == "eth_getBlockByNumber" && unquote(c.Params[0]) == "latest")
	switch c.Method {
	case "eth_chainId":
		return fmt.Sprintf(`"result":"0x%x"`, p.ChainID)
	case "eth_blockNumber":
		return fmt.Sprintf(`"result":"0x%x"`, head)
	case "eth_getBlockByNumber":
		return p.block(unquote(c.Params[0]), head)
	case "eth_getBlockByHash":
		if number, known := p.byHash[unquote(c.Params[0])]; known && number <= head {
			return `"result":` + p.at(number)
		}
		return `"result":null`
	case "eth_getTransactionByHash":
		if tx, known := p.Transactions[unquote(c.Params[0])]; known {
			return `"result":` + string(tx)
		}
		return `"result":null`
	case "eth_getTransactionReceipt":
		if _, isNull := p.chance("null"); isNull {
			return `"result":null`
		}
		if receipt, known := p.Receipts[unquote(c.Params[0])]; known && blockOf(receipt) <= head {
			return `"result":` + string(receipt)
		}
		return `"result":null`
	case "eth_getBlockReceipts":
		return p.receiptsOf(unquote(c.Params[0]), head)
	case "eth_getLogs":
		return p.search(c.Params[0], head)
	}
	return rpctest.Fault(-32601, "the method "+c.Method+" does not exist")
}

// newest returns the number of the newest block; requesting it makes the chain grow.
func (p *provider) newest(isAsked bool) uint64 {
	p.recording.mu.Lock()
	defer p.recording.mu.Unlock()
	switch {
	case !isAsked || !p.grows:
	case p.head < uint64(len(p.headers)):
		p.head += 1 + p.random.Uint64N(7)
	default: // nothing happens after the recording
		p.head += 1 + p.random.Uint64N(100)
	}
	return p.head
}

func (p *provider) block(tag string, head uint64) string {
	number := head
	switch tag {
	case "latest":
	case "finalized":
		number = head - min(head, 20)
	default:
		number = parseQuantity(tag)
	}
	if _, isNull := p.chance("null"); isNull || number > head {
		return `"result":null`
	}
	return `"result":` + p.at(number)
}

func (p *provider) receiptsOf(hash string, head uint64) string {
	number, known := p.byHash[hash]
	if !known || number > head {
		return `"result":null`
	}
	receipts := make([]string, len(p.inBlocks[number]))
	for i, tx := range p.inBlocks[number] {
		receipts[i] = string(p.Receipts[tx])
	}
	return `"result":[` + strings.Join(receipts, ",") + `]`
}

func (p *provider) search(param json.RawMessage, head uint64) string {
	var filter struct {
		FromBlock, ToBlock, BlockHash string
		Address                       []string
		Topics                        [][]string
	}
	_ = json.Unmarshal(param, &filter)
	from, to := p.byHash[filter.BlockHash], p.byHash[filter.BlockHash]
	if filter.BlockHash == "" {
		from, to = parseQuantity(filter.FromBlock), parseQuantity(filter.ToBlock)
		if _, isEmpty := p.chance("empty"); isEmpty {
			return `"result":[]`
		}
		if behind, lags := p.chance("lag"); lags {
			blocks, _ := strconv.ParseUint(behind[0], 10, 64)
			to = min(to, head-min(head, blocks))
		}
	}
	found := []string{}
	for _, l := range p.logs {
		in := slices.ContainsFunc(filter.Address, func(a string) bool { return strings.EqualFold(a, l.address) })
		if l.block < from || l.block > min(to, head) || !in || len(filter.Topics) > 0 && !slices.Contains(filter.Topics[0], l.topic) {
			continue
		}
		if _, isDropped := p.chance("drop"); !isDropped {
			found = append(found, string(l.raw))
		}
	}
	return `"result":[` + strings.Join(found, ",") + `]`
}
