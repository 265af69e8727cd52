package jsonrpc_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"crossgate/internal/must"
	"crossgate/internal/pooltest"
	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

// TestWordingsHaveTheirMeanings reads testdata/wordings.txt.
func TestWordingsHaveTheirMeanings(t *testing.T) {
	var want jsonrpc.Meaning
	read := 0
	for line := range strings.Lines(string(must.Get(os.ReadFile("testdata/wordings.txt"))(t))) {
		line = strings.TrimSpace(line)
		if meaning, is := strings.CutPrefix(line, "= "); is {
			want = jsonrpc.Meaning(meaning)
			continue
		}
		words := strings.SplitN(line, " ", 4)
		if len(words) < 4 || words[0] == "#" {
			continue
		}
		read++
		asked := &jsonrpc.Call{Method: words[0], Out: new(json.RawMessage)}
		if words[1] != "-" {
			asked.Reach = jsonrpc.Reach{Depth: must.Get(strconv.ParseUint(words[1], 10, 64))(t), Oldest: 1}
			if words[0] == "eth_getLogs" {
				asked.Reach.Blocks = 5000
			}
		}
		body, isWhole := strings.CutPrefix(words[3], "whole ")
		if code, message, isPair := strings.Cut(body, " "); !isWhole && isPair && body[0] != '{' {
			body = fmt.Sprintf(`{"code":%s,"message":%s}`, code, message)
		}
		if !isWhole {
			body = fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"error":%s}`, body)
		}
		client := rpc(t, pooltest.Always(must.Get(strconv.Atoi(words[2]))(t), body))
		_ = client.Batch(t.Context(), asked) // the call holds the error
		said, is := jsonrpc.Said(asked.Err, func(*jsonrpc.Error) bool { return true })
		if !is || said.Meaning() != want {
			t.Errorf("%s: %v, want %v", line, asked.Err, want)
		}
		if isFinal := want == jsonrpc.Reverted || want == jsonrpc.Invalid; (upstream.ClassOf(asked.Err) == 0) != isFinal {
			t.Errorf("%s: %v is final: %v, want %v", line, asked.Err, !isFinal, isFinal)
		}
	}
	if read < 130 {
		t.Errorf("%d wordings were read: the test looks at nothing", read)
	}
}

// TestErrorsInAnyFormAreRead covers malformed error objects and members, and texts in their place.
func TestErrorsInAnyFormAreRead(t *testing.T) {
	for _, test := range []struct {
		status int
		body   string
		want   jsonrpc.Meaning // "closed" if access is denied without a message; "bad" if neither
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
		_ = rpc(t, pooltest.Always(test.status, test.body)).Batch(t.Context(), call) // the call holds the error
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

// TestFieldsThatAreNotTaken covers errors about a part of the parameters, and others with the same words.
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
		{call, jsonrpc.Overrides, "invalid length 3, expected fewer elements in array", jsonrpc.FieldMissing},
		{call, jsonrpc.Overrides, "Invalid params", jsonrpc.FieldMissing},
		{call, "", "Invalid params", jsonrpc.Unclear},
		{call, jsonrpc.Overrides, "pending block is not supported", jsonrpc.Unclear},
		{call, jsonrpc.Overrides, "execution reverted: overrides not allowed", jsonrpc.Reverted},
		{call, jsonrpc.Overrides, "missing trie node 12ab", jsonrpc.Pruned},
	} {
		message, _ := json.Marshal(test.message)
		client := rpc(t, pooltest.Always(http.StatusOK, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":`+string(message)+`}}`))
		asked := &jsonrpc.Call{Method: test.method, Out: new(json.RawMessage), Reach: jsonrpc.Reach{Fields: strings.Fields(test.fields)}}
		_ = client.Batch(t.Context(), asked) // the call holds the error
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
