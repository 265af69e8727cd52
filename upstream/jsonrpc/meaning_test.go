package jsonrpc_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

// TestErrorsAreReadByStructureAndWords holds what nodes and providers say in other words than those of the book.
func TestErrorsAreReadByStructureAndWords(t *testing.T) {
	const search, read, batch = "eth_getLogs", "eth_call", "batch"
	for _, test := range []struct {
		method string
		status int
		body   string // a whole body, or an error object's members
		want   jsonrpc.Meaning
	}{
		// A contract's reason may hold any words.
		{read, 200, `"code":3,"message":"execution reverted: rate limit exceeded","data":"0x08c379a0"`, jsonrpc.Reverted},
		{read, 200, `"code":-32000,"message":"execution reverted: too many requests per day"`, jsonrpc.Reverted},
		{read, 500, `"code":3,"message":"execution reverted: unauthorized","data":"0x08c379a0"`, jsonrpc.Reverted},
		{read, 400, `"code":-32015,"message":"VM execution error.","data":"Reverted 0x08c379a0"`, jsonrpc.Reverted},
		{read, 200, `"code":-32603,"message":"VM Exception while processing transaction: reverted with reason string 'block range limit'"`, jsonrpc.Reverted},
		{read, 200, `"code":-32000,"message":"REVERT opcode executed","data":"08c379a0"`, jsonrpc.Reverted},
		{read, 200, `"code":3,"message":"boom","data":"0xdeadbeef"`, jsonrpc.Reverted},
		{read, 200, `"code":3,"message":"header not found"`, jsonrpc.NotYet},
		{read, 200, `"code":3,"message":"too many requests"`, jsonrpc.RateLimit},
		{"eth_estimateGas", 200, `"code":-32000,"message":"gas required exceeds allowance (0)"`, jsonrpc.Invalid},
		{"eth_estimateGas", 200, `"code":-32000,"message":"err: insufficient funds for gas * price + value: have 0 want 1 (supplied gas 50000000)"`, jsonrpc.Invalid},

		{read, 429, `"code":-32090,"message":"Too many requests, reason: call rate limit exhausted, retry in 10s"`, jsonrpc.RateLimit},
		{read, 200, `"code":-32005,"message":"project has exceeded its rate limit of 10 requests/sec"`, jsonrpc.RateLimit},
		{read, 200, `"code":-32000,"message":"You've exceeded your plan's RPS"`, jsonrpc.RateLimit},
		{read, 200, `"code":-32005,"message":"limit exceeded"`, jsonrpc.RateLimit},
		{search, 200, `"code":-32005,"message":"limit exceeded"`, jsonrpc.Unclear},
		{read, 200, `"code":-32001,"message":"Exceeded the quota usage"`, jsonrpc.QuotaSpent},
		{read, 429, `"code":-32000,"message":"daily limit of 100,000 requests is reached"`, jsonrpc.QuotaSpent},
		{read, 402, `{"message":"Payment Required"}`, jsonrpc.QuotaSpent},
		{read, 401, `{"error":"invalid api key"}`, jsonrpc.KeyRefused},
		{read, 403, `"code":-32052,"message":"API key is not allowed to access blockchain"`, jsonrpc.KeyRefused},
		{read, 401, `"code":-32000,"message":"sorry"`, jsonrpc.KeyRefused},

		{read, 200, `"code":-32000,"message":"project ID does not have access to archive state"`, jsonrpc.Pruned},
		{read, 200, `"code":-32000,"message":"required historical state unavailable (reexec=128)"`, jsonrpc.Pruned},
		{read, 200, `"code":-32603,"message":"distance to target block exceeds maximum proof window"`, jsonrpc.Pruned},
		{search, 403, `"code":-32600,"message":"Please upgrade your plan to access archive data"`, jsonrpc.Pruned},
		{search, 200, `"code":-32000,"message":"One of the blocks specified in filter (fromBlock, toBlock or blockHash) cannot be found."`, jsonrpc.NotYet},
		{read, 200, `"code":-32601,"message":"Unsupported method: eth_getBlockReceipts"`, jsonrpc.MethodMissing},
		{read, 403, `"code":-32604,"message":"rpc method is not whitelisted"`, jsonrpc.MethodMissing},

		{search, 200, `"code":-32005,"message":"please limit the query to at most 1000 blocks"`, jsonrpc.RangeLimit},
		{search, 400, `"code":-32602,"message":"maximum allowed number of requested blocks is 2000"`, jsonrpc.RangeLimit},
		{search, 500, `"code":-32000,"message":"can't get logs: block range exceeds 2000"`, jsonrpc.RangeLimit},
		{search, 200, `"code":-32602,"message":"invalid params","data":{"reason":"block range too wide","maxBlockRange":800}`, jsonrpc.RangeLimit},
		{search, 200, `"code":-32603,"message":"response is too big: 30 MB"`, jsonrpc.ResultLimit},
		{read, 200, `"code":-32000,"message":"exceeds block gas limit"`, jsonrpc.Unclear},
		{batch, 200, `"code":31,"message":"Batch of more than 3 requests are not allowed on free tier"`, jsonrpc.BatchLimit},
		{batch, 413, `"code":-32600,"message":"maximum batch size is 10, got 11"`, jsonrpc.BatchLimit},
		{read, 200, `"code":-32002,"message":"request timed out"`, jsonrpc.Overloaded},
		{read, 503, `Service Unavailable`, jsonrpc.Overloaded},
		{read, 200, `"code":-32000,"message":"something else"`, jsonrpc.Unclear},
		{read, 200, `"code":-32602,"message":"too many arguments, want at most 1"`, jsonrpc.Unclear},
	} {
		body := test.body
		if body[0] == '"' {
			body = fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"error":{%s}}`, body)
		}
		answering := always(test.status, body)
		call := &jsonrpc.Call{Method: test.method, Out: new(json.RawMessage)}
		client := rpc(t, answering)
		_ = client.Batch(t.Context(), call)
		said, is := jsonrpc.Said(call.Err, func(*jsonrpc.Error) bool { return true })
		if !is || said.Meaning() != test.want {
			t.Errorf("%s, %d %s: %v means %v, want %v", test.method, test.status, test.body, call.Err, said.Meaning(), test.want)
			continue
		}
		isFinal := test.want == jsonrpc.Reverted || test.want == jsonrpc.Invalid
		if (classOf(call.Err) == 0) != isFinal {
			t.Errorf("%s: %v is final: %v, want %v", test.body, call.Err, !isFinal, isFinal)
		}
	}
}

// TestPagesAreNotAnswers has what proxies in front of providers answer.
func TestPagesAreNotAnswers(t *testing.T) {
	for _, test := range []struct {
		status int
		body   string
		want   upstream.Class
	}{
		{http.StatusForbidden, "<html>Attention required</html>", upstream.Rejected},
		{http.StatusTooManyRequests, "<html>slow</html>", upstream.RateLimited},
		{http.StatusBadGateway, "<html>bad gateway</html>", upstream.ServerError},
		{http.StatusOK, "<html>welcome</html>", upstream.BadAnswer},
		{http.StatusOK, "max usage reached", upstream.RateLimited},
		{http.StatusOK, "busy", upstream.BadAnswer},
		{http.StatusOK, "", upstream.BadAnswer},
	} {
		var got string
		err := rpc(t, always(test.status, test.body)).Call(t.Context(), "eth_call", &got, "0x1")
		if classOf(err) != test.want {
			t.Errorf("%d %q: %v, want %v", test.status, test.body, err, test.want)
		}
	}
}
