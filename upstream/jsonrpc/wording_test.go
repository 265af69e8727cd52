package jsonrpc_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

// TestOtherWordsMeanTheSame holds ways to say what the book has in other words: that of a code, a text of a node's
// error object, and how deep the question reached.
func TestOtherWordsMeanTheSame(t *testing.T) {
	const search, call, deep = "eth_getLogs", "eth_call", 1_000_000
	for _, test := range []struct {
		method string
		depth  uint64
		error  string // code and message
		want   jsonrpc.Meaning
	}{
		{search, 0, `-32602 "Try reducing the block range"`, jsonrpc.RangeLimit},
		{search, 0, `-32602 "toBlock - fromBlock must be less than 1000"`, jsonrpc.RangeLimit},
		{search, 0, `-32602 "difference between fromBlock and toBlock must be <= 1024"`, jsonrpc.RangeLimit},
		{search, 0, `-32602 "Range of blocks too broad"`, jsonrpc.RangeLimit},
		{search, 0, `-32602 "exceeded the allowed block window: 2_000"`, jsonrpc.RangeLimit},
		{search, 0, `-32602 "fromBlock and toBlock are too far apart (limit: 3,500)"`, jsonrpc.RangeLimit},
		{search, 0, `-32602 "You are requesting too many blocks at a time"`, jsonrpc.RangeLimit},
		{search, 0, `-32602 "query spans 5000 blocks, exceeding 0x400"`, jsonrpc.RangeLimit},
		{search, 0, `-32005 "query duration must not exceed 10 seconds"`, jsonrpc.ResultLimit},
		{search, 0, `-32000 "query took too long to execute, please narrow your filter"`, jsonrpc.ResultLimit},
		{search, 0, `-32602 "exceeds max log count of 5000"`, jsonrpc.ResultLimit},
		{search, 0, `-32000 "number of matching logs exceeds the limit"`, jsonrpc.ResultLimit},
		{search, 0, `-32000 "from block is greater than latest block"`, jsonrpc.NotYet},
		{search, 0, `-32000 "One of the blocks specified in filter (fromBlock, toBlock or blockHash) could not be found"`, jsonrpc.NotYet},
		{"eth_getBlockByNumber", 0, `-32000 "height 31 must be less than or equal to the current blockchain height 30"`, jsonrpc.NotYet},
		{search, deep, `-32000 "logs are only available for the most recent 10000 blocks"`, jsonrpc.Pruned},
		{search, deep, `-32000 "only last 2,000 blocks can be queried on the free plan"`, jsonrpc.Pruned},
		{search, deep, `-32000 "No logs before block 5000000 are stored on this node"`, jsonrpc.Pruned},
		{search, deep, `-32001 "Resource not found"`, jsonrpc.Pruned},
		{call, deep, `-32000 "state for block 12345 has been garbage collected"`, jsonrpc.Pruned},
		{call, deep, `-32000 "version mismatch on immutable IAVL tree; version does not exist. Version has either been pruned, or is for a future block height"`, jsonrpc.Pruned},
		{call, deep, `-32000 "snapshot not available for the requested root"`, jsonrpc.Pruned},
		{call, deep, `-32601 "You can not access archive data on this plan"`, jsonrpc.Pruned},
		{call, 0, `-32000 "header not found"`, jsonrpc.NotYet},
		{call, deep, `-39001 "Unknown block"`, jsonrpc.Pruned},
		{"eth_simulateV1", 0, `-32600 "eth_simulateV1 is only available to Growth plans"`, jsonrpc.MethodMissing},
		{"eth_getBlockReceipts", 0, `-32000 "eth_getBlockReceipts: access to method denied"`, jsonrpc.MethodMissing},
		{"eth_getBlockReceipts", 0, `-32000 "not implemented"`, jsonrpc.MethodMissing},
		{"getProgramAccounts", 0, `410 "getProgramAccounts is disabled on this endpoint"`, jsonrpc.MethodMissing},
		{search, 0, `-32000 "context deadline exceeded"`, jsonrpc.Overloaded},
		{call, 0, `-32002 "resource unavailable"`, jsonrpc.Overloaded},
		{call, 0, `-32000 "node is catching up"`, jsonrpc.Overloaded},
		{call, 0, `-32000 "all backends failed"`, jsonrpc.Overloaded},
		{call, 0, `-32000 "unexpected EOF"`, jsonrpc.Overloaded},
		{call, 0, `-32000 "You are sending requests too quickly"`, jsonrpc.RateLimit},
		{call, 0, `-32000 "flood protection: wait 3s"`, jsonrpc.RateLimit},
		{call, 0, `-32000 "connection limit reached"`, jsonrpc.RateLimit},
		{call, 0, `-32601 "You have exceeded the rate limit"`, jsonrpc.RateLimit},
		{call, 0, `-32000 "You have reached this month's allowance"`, jsonrpc.QuotaSpent},
		{call, 0, `-32000 "You've used all of your free requests for today"`, jsonrpc.QuotaSpent},
		{call, 0, `-32000 "CU balance exhausted"`, jsonrpc.QuotaSpent},
		{call, 0, `-32000 "insufficient funds: please top up your account balance"`, jsonrpc.QuotaSpent},
		{call, 0, `-32000 "blockchain not supported"`, jsonrpc.KeyRefused},
		{call, 0, `-32000 "project has been paused"`, jsonrpc.KeyRefused},
		{call, 0, `-32000 "Your free trial has ended"`, jsonrpc.KeyRefused},
		{"eth_getBlockByNumber", 0, `-32602 "Invalid params: unknown variant finalized, expected latest"`, jsonrpc.TagMissing},
		{call, 0, `-32000 "Not enough energy for 'SSTORE' operation executing"`, jsonrpc.Invalid},
		{search, deep, `-32000 "block 123 is out of the retention window"`, jsonrpc.Pruned},
		{call, deep, `-32000 "requested block is too far in the past"`, jsonrpc.Pruned},
		{call, deep, `-32000 "the requested block is before the snapshot"`, jsonrpc.Pruned},
		{call, 0, `-32000 "block 999 has not been produced yet"`, jsonrpc.NotYet},
		{call, 0, `-32000 "block 0x10 is not available yet"`, jsonrpc.NotYet},
		{"eth_getBlockByNumber", 0, `-32000 "no finalized block yet"`, jsonrpc.TagMissing},
		{call, 0, `-32000 "server is under heavy load"`, jsonrpc.Overloaded},
		{call, 0, `-32000 "node is not ready"`, jsonrpc.Overloaded},
		{call, 0, `-32000 "no healthy upstream"`, jsonrpc.Overloaded},
		{call, 0, `-32000 "rpc error: code = Unavailable desc = transport is closing"`, jsonrpc.Overloaded},
		{call, 0, `-32000 "leveldb: closed"`, jsonrpc.Overloaded},
		{call, 0, `-32000 "exceeded max requests per interval"`, jsonrpc.RateLimit},
		{search, 0, `-32000 "Your requests exceed the limit"`, jsonrpc.RateLimit},
		{call, 0, `-32000 "quota exceeded: 10 requests per second"`, jsonrpc.RateLimit},
		{call, 0, `-32005 "Your plan's monthly compute units have been exhausted"`, jsonrpc.QuotaSpent},
		{call, 0, `-32000 "Request denied: your IP has been temporarily banned"`, jsonrpc.KeyRefused},
		{call, 0, `-32000 "Upgrade to a paid plan to use this chain"`, jsonrpc.KeyRefused},
		{"eth_simulateV1", 0, `-32000 "eth_simulateV1 is not included, your plan does not include it"`, jsonrpc.MethodMissing},
		{call, 0, `3 "CONTRACT_REVERT_EXECUTED"`, jsonrpc.Reverted},
		{call, 0, `-32000 "contract reverted without a reason"`, jsonrpc.Reverted},
		{call, 0, `-32000 "Execution failed: Revert"`, jsonrpc.Reverted},
		// What go-ethereum's machine comes to (core/vm/errors.go).
		{call, 0, `-32000 "max code size exceeded"`, jsonrpc.Invalid},
		{call, 0, `-32000 "write protection"`, jsonrpc.Invalid},
		{call, 0, `-32000 "return data out of bounds"`, jsonrpc.Invalid},
		{call, 0, `-32000 "max call depth exceeded"`, jsonrpc.Invalid},
		{call, 0, `-32000 "contract address collision"`, jsonrpc.Invalid},
		{call, 0, `-32000 "invalid code: must not begin with 0xef"`, jsonrpc.Invalid},
		{call, 0, `-32000 "max fee per gas (1) is lower than block base fee (2)"`, jsonrpc.Invalid},
		// A limit of blocks, in a text that speaks of the answer's size, too.
		{search, 0, `-32005 "response size exceeded, eth_getLogs is limited to a 1,000 block range"`, jsonrpc.RangeLimit},
		{search, 0, `-32602 "query returns too large response: max 500 blocks per request"`, jsonrpc.RangeLimit},
		{search, 0, `-32000 "log response size exceeded, use up to 2k blocks"`, jsonrpc.RangeLimit},
		{search, 0, `-32005 "query returned more than 10000 results, maximum block range is 2000"`, jsonrpc.RangeLimit},
		// What is to be tried again passes.
		{call, 0, `-32000 "method handler unavailable, please retry"`, jsonrpc.Overloaded},
		{call, 0, `-32603 "request blocked temporarily, retry later"`, jsonrpc.Overloaded},
		{call, 0, `-32000 "the endpoint was suspended, please try again"`, jsonrpc.Overloaded},
		{call, 0, `-32000 "invalid api key, check it and retry"`, jsonrpc.KeyRefused},
		{call, 0, `-32005 "too many requests, please retry"`, jsonrpc.RateLimit},
		{call, 0, `-32000 "node is lagging behind"`, jsonrpc.NotYet},
		{call, 0, `-32000 "upstream is 120 blocks behind the chain"`, jsonrpc.NotYet},
		{"getTransaction", 0, `-32005 "Node is behind by 42 slots"`, jsonrpc.Overloaded},
		{search, 0, `-32602 "query exceeds the maximum of 4 topics"`, jsonrpc.Unclear},
		{call, 0, `-32000 "exceeds block gas limit"`, jsonrpc.Unclear},
		{call, 0, `-32602 "invalid argument 0: hex string without 0x prefix"`, jsonrpc.Unclear},
	} {
		code, message, _ := strings.Cut(test.error, " ")
		asked := &jsonrpc.Call{Method: test.method, Out: new(json.RawMessage), Reach: jsonrpc.Reach{Depth: test.depth, Oldest: 1}}
		if test.method == search {
			asked.Reach.Blocks = 5000
		}
		client := rpc(t, always(http.StatusOK, `{"jsonrpc":"2.0","id":1,"error":{"code":`+code+`,"message":`+message+`}}`))
		_ = client.Batch(t.Context(), asked) // the call has its error
		said, is := jsonrpc.Said(asked.Err, func(*jsonrpc.Error) bool { return true })
		if !is || said.Meaning() != test.want {
			t.Errorf("%s, %d deep, %s: %v, want %v", test.method, test.depth, test.error, asked.Err, test.want)
		}
	}
}

// TestErrorsInAnyFormAreRead has what stands in the place of an error object, or of what it must hold.
func TestErrorsInAnyFormAreRead(t *testing.T) {
	for _, test := range []struct {
		status int
		body   string
		want   jsonrpc.Meaning // "closed": without a word; "bad": neither
	}{
		{200, `{"jsonrpc":"2.0","id":1,"error":"Too many requests"}`, "rate limit"},
		{200, `{"jsonrpc":"2.0","id":1,"error":["rate limit"]}`, "rate limit"},
		{200, `{"jsonrpc":"2.0","id":1,"error":{"code":429.0,"message":{"text":"x","detail":"slow down"}}}`, "rate limit"},
		{200, `{"jsonrpc":"2.0","id":1,"error":{"code":null,"message":null}}`, "unclear"},
		{200, `{"error":true,"message":"rate limit exceeded"}`, "rate limit"},
		{200, `{"code":429,"msg":"slow"}`, "rate limit"},
		{400, `{"error":{"status":"x","title":"no","description":"unsupported network"}}`, "key refused"},
		{200, `{"jsonrpc":"2.0","id":1,"result":"0x1","error":false}`, "answer"},
		{200, `{"jsonrpc":"2.0","id":1,"result":"0x1","error":{}}`, "answer"},
		{401, ``, "closed"},
		{401, `<html>Unauthorized</html>`, "closed"},
		{401, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"Invalid request"}}`, "key refused"},
		{401, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}`, "key refused"},
		{402, `{"error":"no"}`, "quota spent"},
		{402, `{"error":"insufficient funds for gas, top up your balance"}`, "quota spent"},
		{451, `Not here`, "key refused"},
		{429, `{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"Archive requests are limited on your free plan"}}`, "rate limit"},
		{405, `{"Error":"Method Not Allowed"}`, "unclear"},
		{200, `{"jsonrpc":"2.0","id":1,"error":{"code":-32005,"mess`, "bad"},
	} {
		call := &jsonrpc.Call{Method: "eth_blockNumber", Out: new(string)}
		_ = rpc(t, always(test.status, test.body)).Batch(t.Context(), call) // the call has its error
		got := jsonrpc.Meaning("answer")
		if said, is := jsonrpc.Said(call.Err, func(*jsonrpc.Error) bool { return true }); is {
			got = said.Meaning()
		} else if call.Err != nil {
			got = "bad"
		}
		if closed := (*upstream.Error)(nil); got == "bad" && errors.As(call.Err, &closed) && isClosed(closed) {
			got = "closed"
		}
		if got != test.want {
			t.Errorf("%d %s: %s, want %s: %v", test.status, test.body, got, test.want, call.Err)
		}
	}
}

// isClosed reports whether an error, or one of its causes, says that an endpoint denies us access.
func isClosed(err error) bool {
	if failed, is := err.(*upstream.Error); is && failed.Closed {
		return true
	}
	if several, are := err.(interface{ Unwrap() []error }); are {
		return slices.ContainsFunc(several.Unwrap(), isClosed)
	}
	cause := errors.Unwrap(err)
	return cause != nil && isClosed(cause)
}
