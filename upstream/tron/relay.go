// Package tron relays calls of pages to TRON's nodes. Package upstream/evm reads orders and tokens there, and
// upstream/evm/swap has what swaps need.
package tron

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"

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
	var result *json.RawMessage // null is an answer: a pending transaction has no receipt
	switch err = json.Unmarshal(asked, &call); {
	case err != nil:
		err = &jsonrpc.Error{Message: "the body must be JSON with a method and params"}
	case call.Method == broadcast && len(call.Params) == 1:
		result, err = r.broadcast(ctx, call.Params[0])
	case slices.ContainsFunc(call.Params, func(each json.RawMessage) bool { return !hexadecimal.Match(each) }):
		err = &jsonrpc.Error{Message: "params must be hexadecimal"}
	case slices.Contains(relayed, call.Method):
		params := make([]any, len(call.Params))
		for i, each := range call.Params {
			params[i] = each
		}
		err = r.Nodes.All(ctx, &jsonrpc.Call{Method: call.Method, Params: params, Out: &result})
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

// notNow are the codes of nodes that take no transaction now, whichever it is (java-tron, Return.response_code);
// those over their rate send none at all.
var notNow = []string{"", "SERVER_BUSY", "NO_CONNECTION", "NOT_ENOUGH_EFFECTIVE_CONNECTION", "BLOCK_UNSOLIDIFIED"}

// broadcast sends a signed transaction and returns its id, also if an endpoint has accepted it before.
func (r Relay) broadcast(ctx context.Context, signed json.RawMessage) (id *json.RawMessage, err error) {
	type outcome struct {
		ID            json.RawMessage `json:"txid"`
		Result        bool            `json:"result"`
		Code, Message string
	}
	var took outcome
	err = r.Nodes.Beside(ctx, "wallet/"+broadcast, signed, func(body []byte) error {
		took = outcome{}
		err := json.Unmarshal(body, &took)
		if err == nil && !took.Result && slices.Contains(notNow, took.Code) {
			err = fmt.Errorf("takes no transactions now (%.40s)", took.Code)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if why, err := hex.DecodeString(took.Message); !took.Result && took.Code != "DUP_TRANSACTION_ERROR" {
		if err != nil {
			why = []byte(took.Message)
		}
		return nil, &jsonrpc.Error{Message: fmt.Sprintf("TRON refuses the transaction: %.200s (%.40s)", why, took.Code)}
	}
	return &took.ID, nil
}
