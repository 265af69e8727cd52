package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/rpc"

	"crossgate/chain"
	"crossgate/sandbox/jsonrpc"
	"crossgate/sandbox/tron"
)

// nodeBehind answers like a node that has not seen the newest blocks of a chain yet. Its answers about older blocks are
// true.
type nodeBehind struct {
	full   *rpc.Client
	blocks uint64
}

// behind returns a node of the chain, in the chain's dialect, that lacks a number of the newest blocks.
func (c *Chain) behind(blocks uint64) http.Handler {
	client := c.node.client.Client()
	if blocks > 0 {
		node := nodeBehind{client, blocks}.handler()
		if c.Facts.Family != chain.TVM {
			return node
		}
		client = dialHandler(node)
	}
	if c.Facts.Family == chain.TVM {
		return tron.New(client, c.wallet)
	}
	return c.node
}

func (n nodeBehind) handler() http.Handler {
	return &jsonrpc.Node{
		Call: n.call, ContentType: "application/json", MaxBytes: maxRequestBytes,
		Malformed: func(bool) *jsonrpc.Error {
			return &jsonrpc.Error{Code: jsonrpc.InvalidRequest, Message: "invalid request"}
		},
		Failed: func(err error) *jsonrpc.Error {
			failed := &jsonrpc.Error{Code: -32000, Message: err.Error()}
			if coded, is := errors.AsType[rpc.Error](err); is {
				failed.Code = coded.ErrorCode()
			}
			return failed
		},
	}
}

// call forwards a call to the full node, restricted to the blocks that this node has.
func (n nodeBehind) call(ctx context.Context, r jsonrpc.Request) (any, error) {
	var newest hexutil.Uint64
	if err := n.full.CallContext(ctx, &newest, "eth_blockNumber"); err != nil {
		return nil, err
	}
	head := uint64(newest) - min(uint64(newest), n.blocks)
	if r.Method == "eth_blockNumber" {
		return hexutil.Uint64(head), nil
	}
	params := make([]any, len(r.Params))
	for i, each := range r.Params {
		switch string(each) {
		case `"latest"`, `"pending"`:
			params[i] = hexutil.Uint64(head)
		case `"safe"`, `"finalized"`:
			params[i] = hexutil.Uint64(head - min(head, n.depth(ctx, uint64(newest), each)))
		default:
			params[i] = each
		}
	}
	if err := n.checkBlock(ctx, head, r); err != nil {
		return nil, err
	}
	var result json.RawMessage
	if err := n.full.CallContext(ctx, &result, r.Method, params...); err != nil {
		return nil, err
	}
	return until(head, r.Method, result)
}

// checkBlock rejects a log search by the hash of a block that the node does not have.
func (n nodeBehind) checkBlock(ctx context.Context, head uint64, r jsonrpc.Request) error {
	var filter struct{ BlockHash *common.Hash }
	if r.Method != "eth_getLogs" || len(r.Params) == 0 || json.Unmarshal(r.Params[0], &filter) != nil || filter.BlockHash == nil {
		return nil
	}
	var block struct{ Number hexutil.Uint64 }
	if err := n.full.CallContext(ctx, &block, "eth_getBlockByHash", filter.BlockHash, false); err != nil {
		return err
	}
	if uint64(block.Number) > head {
		return &jsonrpc.Error{Code: -32000, Message: "unknown block"}
	}
	return nil
}

// depth returns how far a tag's block is behind the newest one.
func (n nodeBehind) depth(ctx context.Context, newest uint64, tag json.RawMessage) uint64 {
	var tagged struct{ Number hexutil.Uint64 }
	_ = n.full.CallContext(ctx, &tagged, "eth_getBlockByNumber", tag, false)
	return newest - min(newest, uint64(tagged.Number))
}

// until removes entries in blocks beyond head from a result.
func until(head uint64, method string, result json.RawMessage) (any, error) {
	type placed struct{ Number, BlockNumber *hexutil.Uint64 }
	isBeyond := func(raw json.RawMessage) bool {
		var at placed
		_ = json.Unmarshal(raw, &at) // only objects are in a block
		return at.Number != nil && uint64(*at.Number) > head || at.BlockNumber != nil && uint64(*at.BlockNumber) > head
	}
	var list []json.RawMessage
	if method == "eth_getLogs" || method == "eth_getBlockReceipts" {
		if err := json.Unmarshal(result, &list); err != nil {
			return nil, fmt.Errorf("%s: %w", method, err)
		}
		known := []json.RawMessage{}
		for _, each := range list {
			if !isBeyond(each) {
				known = append(known, each)
			}
		}
		return known, nil
	}
	if isBeyond(result) {
		return nil, nil
	}
	return result, nil
}

// dialHandler returns a client of a node in this process.
func dialHandler(node http.Handler) *rpc.Client {
	client, err := rpc.DialOptions(context.Background(), "http://node", rpc.WithHTTPClient(&http.Client{Transport: served{node}}))
	if err != nil {
		panic("sandbox: client of a node in this process: " + err.Error())
	}
	return client
}

// served is a transport that passes requests to a handler.
type served struct{ handler http.Handler }

func (s served) RoundTrip(r *http.Request) (*http.Response, error) {
	told := jsonrpc.Record(s.handler, r)
	return &http.Response{StatusCode: told.Status, Header: told.Header(), Body: io.NopCloser(&told.Body), Request: r}, nil
}
