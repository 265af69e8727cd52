package bench

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/onchain"
	"crossgate/upstream"
	"crossgate/upstream/evm"
	"crossgate/upstream/jsonrpc"
)

// node answers JSON-RPC from a ledger. Its logs and receipts are formatted beforehand, so that a benchmark measures
// reading them; its remaining work runs on the same cores.
type node struct {
	ledger   *ledger
	native   uint64
	began    time.Time          // since when it makes blocks after the ledger's; zero: it makes none
	logs     []logs             // of the blocks that have any, ascending
	receipts map[string]receipt // by transaction hash
	byHash   map[string]uint64  // numbers of the blocks that have logs
	storage  map[string]string  // of contracts: answers by calldata
}

// logs are consecutive logs of one block and one contract, separated by commas.
type logs struct {
	block   uint64
	emitter string
	text    string
}

// receipt is a receipt with its logs, which are a part of its block's.
type receipt struct{ head, logs string }

// nativeIDs are the EIP-155 IDs of the ledgers' chains.
var nativeIDs = map[chain.ID]uint64{giveChain: 1, takeChain: 137}

func newNode(l *ledger) *node {
	return &node{ledger: l, native: nativeIDs[l.id], receipts: map[string]receipt{}, byHash: map[string]uint64{}, storage: map[string]string{}}
}

// serve returns the adapter of a chain whose node listens on a port of its own until the benchmark ends.
func (l *ledger) serve(b *testing.B) order.Source {
	b.Helper()
	n := newNode(l)
	for number := range l.newest() + 1 {
		n.write(l.block(number), l.make(number))
	}
	server := httptest.NewServer(n)
	b.Cleanup(server.Close)
	endpoint := must.Get(upstream.NewEndpoint(upstream.EndpointOptions{Name: "node", URL: server.URL, MaxBody: 64 << 20}))(b)
	b.Cleanup(endpoint.Close)
	known := chain.Chain{ID: l.id, Native: n.native, Family: chain.EVM, Contracts: contracts}
	return evm.New(known, jsonrpc.New(upstream.NewPool("node", endpoint)))
}

// write formats a block's logs and receipts as Ethereum's JSON-RPC.
func (n *node) write(b order.Block, all []transaction) {
	if len(all) == 0 {
		return
	}
	n.byHash[b.Hash.String()] = b.Number
	for _, t := range all {
		topics := make([]string, len(t.log.Topics))
		for i, topic := range t.log.Topics {
			topics[i] = strconv.Quote(topic.String())
		}
		text := fmt.Sprintf(`{"address":%q,"topics":[%s],"data":"0x%x","blockNumber":"0x%x","blockHash":%q,`+
			`"blockTimestamp":"0x%x","transactionHash":%q,"transactionIndex":"0x%x","logIndex":"0x%x","removed":false}`,
			t.log.Address, strings.Join(topics, ","), t.log.Data, b.Number, b.Hash, b.Time, t.tx, t.log.Index, t.log.Index)
		n.keepLog(b.Number, t.log.Address.String(), text)
		n.receipts[t.tx.String()] = receipt{
			head: fmt.Sprintf(`{"transactionHash":%q,"blockHash":%q,"blockNumber":"0x%x","from":%q,"to":%q,`+
				`"status":"0x1","type":"0x2","gasUsed":"0x2dc6c","cumulativeGasUsed":"0x5b8d80","effectiveGasPrice":"0x3b9aca00",`+
				`"contractAddress":null,"logs":[`, t.tx, b.Hash, b.Number, busyTaker, contracts.DlnSource),
			logs: text,
		}
	}
}

// keepLog adds a log to the searchable ones.
func (n *node) keepLog(block uint64, emitter, text string) {
	if last := len(n.logs) - 1; last >= 0 && n.logs[last].block == block && n.logs[last].emitter == emitter {
		n.logs[last].text += "," + text
		return
	}
	n.logs = append(n.logs, logs{block, emitter, text})
}

// keep stores an order's progress in the storage of the chain's contract.
func (n *node) keep(number uint64) {
	const giveWords, takeWords = 8, 3 // whose statuses are 1, created or fulfilled, and 2, claimed or unlocked
	id := onchain.ID(termsOf(number))
	call, status, words := onchain.GiveOrderCall(id), 1, giveWords
	if n.ledger.isClaimed(number) {
		status = 2
	}
	if n.ledger.id == takeChain {
		call, status, words = onchain.TakeOrderCall(id), 1, takeWords
		if n.ledger.isClaimed(number) {
			status = 2
		}
	}
	n.storage[fmt.Sprintf("0x%x", call)] = fmt.Sprintf(`"0x%064x%s"`, status, strings.Repeat("0", 64*(words-1)))
}

// call is a JSON-RPC call.
type call struct {
	ID     json.RawMessage
	Method string
	Params []json.RawMessage
}

// ServeHTTP answers a call or a batch.
func (n *node) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	isBatch := bytes.HasPrefix(raw, []byte("["))
	calls := make([]call, 1)
	switch {
	case err != nil:
	case isBatch:
		err = json.Unmarshal(raw, &calls)
	default:
		err = json.Unmarshal(raw, &calls[0])
	}
	if err != nil {
		http.Error(out, err.Error(), http.StatusBadRequest)
		return
	}
	var text bytes.Buffer
	text.Grow(4 << 10)
	for i, c := range calls {
		if i > 0 {
			text.WriteByte(',')
		}
		text.WriteString(`{"jsonrpc":"2.0","id":`)
		text.Write(c.ID)
		if c.Method == "eth_getBlockReceipts" {
			text.WriteString(`,"error":{"code":-32601,"message":"the method eth_getBlockReceipts does not exist"}}`)
			continue
		}
		text.WriteString(`,"result":`)
		n.answer(&text, c)
		text.WriteByte('}')
	}
	body := text.Bytes()
	if isBatch {
		body = slices.Concat([]byte("["), body, []byte("]"))
	}
	out.Header()["Content-Type"] = []string{"application/json"}
	out.Header()["Content-Length"] = []string{strconv.Itoa(len(body))}
	_, _ = out.Write(body)
}

func (n *node) answer(out *bytes.Buffer, c call) {
	switch c.Method {
	case "eth_chainId":
		fmt.Fprintf(out, `"0x%x"`, n.native)
	case "eth_blockNumber":
		fmt.Fprintf(out, `"0x%x"`, n.newest())
	case "eth_getBlockByNumber":
		n.header(out, n.number(c.Params[0]))
	case "eth_getBlockByHash":
		if number, known := n.byHash[unquoted(c.Params[0])]; known {
			n.header(out, number)
			return
		}
		out.WriteString("null")
	case "eth_getTransactionReceipt":
		if found, known := n.receipts[unquoted(c.Params[0])]; known {
			out.WriteString(found.head)
			out.WriteString(found.logs)
			out.WriteString("]}")
			return
		}
		out.WriteString("null")
	case "eth_getLogs":
		var filter struct {
			FromBlock, ToBlock json.RawMessage
			Address            []string
		}
		_ = json.Unmarshal(c.Params[0], &filter)
		n.search(out, n.number(filter.FromBlock), n.number(filter.ToBlock), filter.Address)
	case "eth_call":
		var message struct{ Data string }
		_ = json.Unmarshal(c.Params[0], &message)
		out.WriteString(cmp.Or(n.storage[message.Data], zeros))
	default:
		out.WriteString("null")
	}
}

func (n *node) header(out *bytes.Buffer, number uint64) {
	b := n.ledger.block(number)
	fmt.Fprintf(out, `{"number":"0x%x","hash":%q,"parentHash":%q,"timestamp":"0x%x"}`, b.Number, b.Hash, b.Parent, b.Time)
}

// zeros is the contracts' answer about unknown orders, with the words of the longest one.
var zeros = `"0x` + strings.Repeat("0", 8*64) + `"`

// search writes the logs of contracts in a range of blocks.
func (n *node) search(out *bytes.Buffer, from, to uint64, emitters []string) {
	first, _ := slices.BinarySearchFunc(n.logs, from, func(l logs, block uint64) int { return cmp.Compare(l.block, block) })
	out.WriteByte('[')
	isFirst := true
	for _, each := range n.logs[first:] {
		if each.block > to {
			break
		}
		if !slices.ContainsFunc(emitters, func(e string) bool { return strings.EqualFold(e, each.emitter) }) {
			continue
		}
		if !isFirst {
			out.WriteByte(',')
		}
		isFirst = false
		out.WriteString(each.text)
	}
	out.WriteByte(']')
}

// newest returns the chain's head.
func (n *node) newest() uint64 {
	if n.began.IsZero() {
		return n.ledger.newest()
	}
	return n.ledger.newest() + uint64(time.Since(n.began)/blockTime)
}

// number parses a block's number; tags mean the newest block.
func (n *node) number(raw json.RawMessage) uint64 {
	number, err := strconv.ParseUint(strings.TrimPrefix(unquoted(raw), "0x"), 16, 64)
	if err != nil {
		return n.newest()
	}
	return number
}

func unquoted(raw json.RawMessage) string { return strings.Trim(string(raw), `"`) }
