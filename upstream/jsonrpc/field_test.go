package jsonrpc_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"crossgate/upstream/jsonrpc"
)

// TestFieldsThatAreNotTaken has errors about a part of the parameters, and others with the same words.
func TestFieldsThatAreNotTaken(t *testing.T) {
	t.Parallel()
	const search, call, estimate = "eth_getLogs", "eth_call", "eth_estimateGas"
	const both = jsonrpc.Topics + " " + jsonrpc.Addresses
	for _, test := range []struct {
		method, fields, message string
		want                    jsonrpc.Meaning
	}{
		{search, jsonrpc.Topics, "exceed max topics", jsonrpc.FieldMissing},
		{search, jsonrpc.Topics, "query exceeds the maximum of 4 topics", jsonrpc.FieldMissing},
		{search, jsonrpc.Topics, "nested topics are not supported", jsonrpc.FieldMissing},
		{search, jsonrpc.Topics, "topics: expected a string, got an array", jsonrpc.FieldMissing},
		{search, jsonrpc.Topics, "query returned more than 10000 results, narrow the range or add topics", jsonrpc.ResultLimit},
		{search, jsonrpc.Topics, "eth_getLogs is limited to a 1000 block range, whatever the topics", jsonrpc.RangeLimit},
		{search, jsonrpc.Topics, "rate limit exceeded", jsonrpc.RateLimit},
		{search, both, "exceed max addresses or topics per search position", jsonrpc.FieldMissing},
		{search, both, "too many addresses in filter", jsonrpc.FieldMissing},
		{search, both, "please limit the query to a single contract address", jsonrpc.FieldMissing},
		{search, both, "eth_getLogs takes at most 1 address", jsonrpc.FieldMissing},
		{search, jsonrpc.Topics, "too many addresses in filter", jsonrpc.Unclear},
		{search, both, "query returned more than 10000 results, give a contract address", jsonrpc.ResultLimit},
		{search, both, "eth_getLogs is limited to a 1000 block range for any address", jsonrpc.RangeLimit},
		{search, both, "rate limit exceeded for your IP address", jsonrpc.RateLimit},
		{call, jsonrpc.Overrides, "state overrides are not supported", jsonrpc.FieldMissing},
		{estimate, jsonrpc.Overrides, "too many arguments, want at most 2", jsonrpc.FieldMissing},
		{estimate, "", "too many arguments, want at most 2", jsonrpc.Unclear},
		{call, jsonrpc.Overrides, "execution reverted: overrides not allowed", jsonrpc.Reverted},
		{call, jsonrpc.Overrides, "missing trie node 12ab", jsonrpc.Pruned},
	} {
		message, _ := json.Marshal(test.message)
		client := rpc(t, always(http.StatusOK, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":`+string(message)+`}}`))
		asked := &jsonrpc.Call{Method: test.method, Out: new(json.RawMessage), Reach: jsonrpc.Reach{Fields: strings.Fields(test.fields)}}
		_ = client.Batch(t.Context(), asked) // the call has its error
		said, is := jsonrpc.Said(asked.Err, func(*jsonrpc.Error) bool { return true })
		if !is || said.Meaning() != test.want {
			t.Errorf("%s with %q: %q: %v, want %v", test.method, test.fields, test.message, asked.Err, test.want)
		}
		lacking := slices.DeleteFunc(strings.Fields(test.fields), func(field string) bool { return !client.Lacks(test.method, field) })
		if (len(lacking) == 1) != (test.want == jsonrpc.FieldMissing) || client.Lacks("eth_chainId", "") {
			t.Errorf("%s with %q: %q: lacking is %v", test.method, test.fields, test.message, lacking)
		}
	}
}
