// Package tron relays calls of pages to TRON's nodes. Package upstream/evm reads orders and tokens there, and
// upstream/evm/swap has what swaps need.
package tron

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"crossgate/upstream/evm"
	"crossgate/upstream/jsonrpc"
)

// Relay passes calls on to nodes. Safe for concurrent use.
type Relay struct{ Nodes *jsonrpc.Client }

// relayed are the JSON-RPC methods that a page uses to have a call signed and to see its outcome.
var relayed = []string{"eth_call", "eth_estimateGas", "eth_gasPrice", "eth_getBlockByNumber", "eth_getTransactionReceipt"}

// hexadecimal matches their parameters. Words of a caller's, which a node may quote, could be taken for the node's own.
var hexadecimal = regexp.MustCompile(`^(\{("(from|to|data|value|gas|gasPrice)":"0x[0-9a-fA-F]*",?)*\}|"(0x[0-9a-fA-F]*|latest)"|true|false)$`)

// broadcast is the call of java-tron's HTTP API that accepts a signed transaction: its JSON-RPC does not.
const broadcast = "broadcasttransaction"

// Answer makes a call from a page whose wallet signs: {"method", "params"} gives {"result"}, or {"error"} in words if
// the call is refused.
func (r Relay) Answer(ctx context.Context, asked []byte) (answer []byte, err error) {
	var call struct {
		Method string            `json:"method"`
		Params []json.RawMessage `json:"params"`
	}
	var result *json.RawMessage
	switch err = json.Unmarshal(asked, &call); {
	case err != nil:
		err = &jsonrpc.Error{Message: "the body must be JSON with a method and params"}
	case call.Method == broadcast && len(call.Params) == 1:
		result, err = r.broadcast(ctx, call.Params[0])
	case slices.ContainsFunc(call.Params, func(each json.RawMessage) bool { return !hexadecimal.Match(each) }):
		err = &jsonrpc.Error{Message: "params must be hexadecimal"}
	case slices.Contains(relayed, call.Method):
		result, err = r.call(ctx, call.Method, call.Params)
	default:
		err = &jsonrpc.Error{Message: fmt.Sprintf("method %.40q is not relayed", call.Method)}
	}
	if refused, is := errors.AsType[*jsonrpc.Error](err); is {
		return json.Marshal(map[string]string{"error": refused.Message})
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]*json.RawMessage{"result": result})
}

// extra is how much longer a page waits for a transaction than until it expires, in seconds.
const extra = 60

// call makes a call of JSON-RPC. Another endpoint is asked, too, about answers that cost a page's user money if they
// are wrong: a missing receipt, a failure, an allowance, a refusal. A block of the future would keep a transaction
// valid after the page has given it up.
func (r Relay) call(ctx context.Context, method string, params []json.RawMessage) (result *json.RawMessage, err error) {
	result = new(json.RawMessage)
	made := &jsonrpc.Call{Method: method, Out: result}
	for _, each := range params {
		made.Params = append(made.Params, each)
	}
	switch method {
	case "eth_call":
		made.Twice = true
		jsonrpc.Prefer(made, lesser)
	case "eth_getBlockByNumber":
		made.Accept = func(result any) error {
			var block struct{ Timestamp evm.Quantity }
			err := json.Unmarshal(*result.(*json.RawMessage), &block)
			if err == nil && uint64(block.Timestamp) > uint64(time.Now().Unix()+extra) {
				err = errors.New("a block from the future")
			}
			return err
		}
	case "eth_getTransactionReceipt": // null is an answer: a pending transaction has none
		made.Out, made.Doubt = &result, func(result any) bool {
			var receipt struct{ Status string }
			told := *result.(**json.RawMessage)
			return told == nil || json.Unmarshal(*told, &receipt) != nil || receipt.Status != "0x1"
		}
	}
	if err = r.Nodes.Insist(ctx, made); err == nil && made.Doubt != nil {
		err = r.Nodes.Unheard(made)
	}
	return result, err
}

// lesser ranks what contracts return, in JSON: the less a word is the higher, and anything else the lowest.
func lesser(a, b json.RawMessage) int {
	word := func(text json.RawMessage) string {
		if len(text) != len(`"0x"`)+64 {
			return "~"
		}
		return string(text)
	}
	return strings.Compare(word(b), word(a))
}

// notNow are the codes of nodes that take no transaction now, whichever it is (java-tron, Return.response_code);
// those over their rate send none at all.
var notNow = []string{"", "SERVER_BUSY", "NO_CONNECTION", "NOT_ENOUGH_EFFECTIVE_CONNECTION", "BLOCK_UNSOLIDIFIED"}

// broadcast sends a signed transaction and returns its id, also if an endpoint has accepted it before. If one refuses
// it, the next is asked.
func (r Relay) broadcast(ctx context.Context, signed json.RawMessage) (id *json.RawMessage, err error) {
	var sent struct {
		ID json.RawMessage `json:"txID"`
	}
	if json.Unmarshal(signed, &sent) != nil || len(sent.ID) == 0 {
		return nil, &jsonrpc.Error{Message: "the transaction must have a txID"}
	}
	return &sent.ID, r.Nodes.Beside(ctx, "wallet/"+broadcast, signed, func(body []byte) error {
		var took struct {
			ID            json.RawMessage `json:"txid"`
			Result        bool            `json:"result"`
			Code, Message string
		}
		err := json.Unmarshal(body, &took)
		switch {
		case err != nil:
			return err
		case !took.Result && slices.Contains(notNow, took.Code):
			return fmt.Errorf("takes no transactions now (%.40s)", took.Code)
		case !bytes.Equal(took.ID, sent.ID):
			return errors.New("answers about another transaction")
		case took.Result, took.Code == "DUP_TRANSACTION_ERROR":
			return nil
		}
		why, err := hex.DecodeString(took.Message)
		if err != nil {
			why = []byte(took.Message)
		}
		return &jsonrpc.Error{Message: fmt.Sprintf("TRON refuses the transaction: %.200s (%.40s)", why, took.Code)}
	})
}
