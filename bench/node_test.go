package bench

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/upstream"
	"crossgate/upstream/evm"
)

// node answers JSON-RPC from a ledger. Its logs and receipts are written beforehand, so that a benchmark measures
// reading them; what remains of its work runs on the same cores.
type node struct {
	ledger   *ledger
	native   uint64
	logs     []string          // of a block, separated by commas
	receipts map[string]string // by transaction hash
}

// nativeIDs are the chains' own numbers of the chains that ledgers are about.
var nativeIDs = map[chain.ID]uint64{giveChain: 1, takeChain: 137}

// serve makes the adapter of a chain that a node serves on a port of its own until the benchmark ends.
func (l *ledger) serve(b *testing.B) order.Source {
	b.Helper()
	n := &node{ledger: l, native: nativeIDs[l.id], receipts: map[string]string{}}
	for number := range l.newest() + 1 {
		n.write(l.block(number), l.make(number))
	}
	server := httptest.NewServer(n)
	b.Cleanup(server.Close)
	endpoint, err := upstream.NewEndpoint(upstream.EndpointOptions{Name: "node", URL: server.URL, MaxBody: 64 << 20})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(endpoint.Close)
	known := chain.Chain{ID: l.id, Native: n.native, Family: chain.EVM, Contracts: contracts}
	return evm.New(known, upstream.NewRPC(upstream.NewPool("node", endpoint)))
}

// write puts a block's logs and receipts into the words of Ethereum's JSON-RPC.
func (n *node) write(b order.Block, all []transaction) {
	var written []string
	for _, t := range all {
		var own []string
		for _, log := range t.logs {
			own = append(own, fmt.Sprintf(`{"address":%q,"topics":[%q],"data":"0x%x","blockNumber":"0x%x","blockHash":%q,`+
				`"blockTimestamp":"0x%x","transactionHash":%q,"transactionIndex":"0x%x","logIndex":"0x%x","removed":false}`,
				log.Address, log.Topics[0], log.Data, b.Number, b.Hash, b.Time, t.tx, log.Index, log.Index))
		}
		written = append(written, own...)
		n.receipts[t.tx.String()] = fmt.Sprintf(`{"transactionHash":%q,"blockHash":%q,"blockNumber":"0x%x","from":%q,"to":%q,`+
			`"status":"0x1","type":"0x2","gasUsed":"0x2dc6c","cumulativeGasUsed":"0x5b8d80","effectiveGasPrice":"0x3b9aca00",`+
			`"contractAddress":null,"logs":[%s]}`, t.tx, b.Hash, b.Number, busyTaker, contracts.DlnSource, strings.Join(own, ","))
	}
	n.logs = append(n.logs, strings.Join(written, ","))
}

// ServeHTTP answers a call or a batch of them.
func (n *node) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	type call struct {
		ID     json.RawMessage
		Method string
		Params []json.RawMessage
	}
	var raw json.RawMessage
	err := json.NewDecoder(r.Body).Decode(&raw)
	var calls []call
	if err == nil && raw[0] == '[' {
		err = json.Unmarshal(raw, &calls)
	} else if err == nil {
		calls = make([]call, 1)
		err = json.Unmarshal(raw, &calls[0])
	}
	if err != nil {
		http.Error(out, err.Error(), http.StatusBadRequest)
		return
	}
	answers := make([]string, len(calls))
	for i, c := range calls {
		answers[i] = `{"jsonrpc":"2.0","id":` + string(c.ID) + `,"result":` + n.answer(c.Method, c.Params) + `}`
	}
	text := strings.Join(answers, ",")
	if raw[0] == '[' {
		text = "[" + text + "]"
	}
	out.Header().Set("Content-Type", "application/json")
	_, _ = out.Write([]byte(text))
}

func (n *node) answer(method string, parameters []json.RawMessage) string {
	switch method {
	case "eth_chainId":
		return fmt.Sprintf(`"0x%x"`, n.native)
	case "eth_getBlockByNumber":
		return n.header(n.number(parameters[0]))
	case "eth_getTransactionReceipt":
		return n.receipts[unquoted(parameters[0])]
	case "eth_getLogs":
		var filter struct{ FromBlock, ToBlock json.RawMessage }
		if json.Unmarshal(parameters[0], &filter) != nil {
			return "null"
		}
		var found []string
		for _, logs := range n.logs[n.number(filter.FromBlock) : n.number(filter.ToBlock)+1] {
			if logs != "" {
				found = append(found, logs)
			}
		}
		return "[" + strings.Join(found, ",") + "]"
	}
	return "null"
}

func (n *node) header(number uint64) string {
	b := n.ledger.block(number)
	return fmt.Sprintf(`{"number":"0x%x","hash":%q,"parentHash":%q,"timestamp":"0x%x"}`, b.Number, b.Hash, b.Parent, b.Time)
}

// number reads a block's number; tags mean the newest block.
func (n *node) number(raw json.RawMessage) uint64 {
	number, err := strconv.ParseUint(strings.TrimPrefix(unquoted(raw), "0x"), 16, 64)
	if err != nil {
		return n.ledger.newest()
	}
	return number
}

func unquoted(raw json.RawMessage) string { return strings.Trim(string(raw), `"`) }
