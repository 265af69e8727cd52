package jsonrpc_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/internal/must"
	"crossgate/internal/pooltest"
	"crossgate/internal/rpctest"
	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

// node answers JSON-RPC: reply returns the members of one response object after its ID.
func node(reply func(rpctest.Call) string) pooltest.Transport {
	return func(r *http.Request) (*http.Response, error) {
		asked, err := rpctest.Read(r)
		if err != nil {
			return pooltest.Answer(405, err.Error()), nil
		}
		slices.Reverse(asked.Calls) // their answers are not in their order
		return pooltest.Answer(200, asked.Answer(reply)), nil
	}
}

// says answers every call alike.
func says(members string) pooltest.Transport {
	return node(func(rpctest.Call) string { return members })
}

// echo answers with the first parameter.
func echo(call rpctest.Call) string {
	if len(call.Params) == 0 {
		return `"result":null`
	}
	return `"result":` + string(call.Params[0])
}

func rpc(t *testing.T, answers ...pooltest.Transport) *jsonrpc.Client {
	t.Helper()
	endpoints := make([]*upstream.Endpoint, len(answers))
	for i, a := range answers {
		endpoints[i] = pooltest.Endpoint(t, string(rune('a'+i)), a)
	}
	return jsonrpc.New(upstream.NewPool("chain", endpoints...))
}

// echoed returns calls that echo answers, one for each parameter, and where their results go.
func echoed[T any](params ...T) (calls []*jsonrpc.Call, results []T) {
	calls, results = make([]*jsonrpc.Call, len(params)), make([]T, len(params))
	for i, each := range params {
		calls[i] = &jsonrpc.Call{Method: "eth_call", Params: []any{each}, Out: &results[i]}
	}
	return calls, results
}

func TestCallDecodesTheResult(t *testing.T) {
	var got string
	if err := rpc(t, node(echo)).Call(t.Context(), "eth_call", &got, "0x1"); err != nil || got != "0x1" {
		t.Errorf("Call() = %q, %v, want 0x1", got, err)
	}
	absent := &struct{}{}
	if err := rpc(t, node(echo)).Call(t.Context(), "eth_getTransactionReceipt", &absent); err != nil || absent != nil {
		t.Errorf("Call() with a null result = %v, %v, want nil", absent, err)
	}
}

func TestCallRefusesWhatIsNoAnswer(t *testing.T) {
	for name, bad := range map[string]pooltest.Transport{
		"page":             pooltest.Always(200, "<html>busy</html>"),
		"empty":            pooltest.Always(200, ""),
		"cut off":          pooltest.Always(200, `{"jsonrpc":"2.0","id":1,"result":"0x`),
		"another question": pooltest.Always(200, `{"jsonrpc":"2.0","id":4711,"result":"0x"}`),
		"no result":        says(`"method":"x"`),
		"null":             says(`"result":null`),
		"another type":     says(`"result":{}`),
		"error as text":    says(`"error":"busy"`),
	} {
		t.Run(name, func(t *testing.T) {
			var got string
			if err := rpc(t, bad, node(echo)).Call(t.Context(), "eth_call", &got, "0x1"); err != nil || got != "0x1" {
				t.Errorf("Call() = %q, %v, want the second endpoint's 0x1", got, err)
			}
			err := rpc(t, bad).Call(t.Context(), "eth_call", &got, "0x1")
			if upstream.ClassOf(err) != upstream.BadAnswer {
				t.Errorf("Call() = %v, want a bad answer", err)
			}
		})
	}
}

// Rate limiters in front of nodes answer with a text outside of any envelope.
func TestBareTextsOfRateLimitersAreUnderstood(t *testing.T) {
	limited := pooltest.Always(200, `{"Error":"class java.lang.IllegalAccessException : lack of computing resources"}`)
	var got string
	if err := rpc(t, limited).Call(t.Context(), "eth_call", &got, "0x1"); upstream.ClassOf(err) != upstream.RateLimited {
		t.Errorf("Call() = %v, want a rate limit", err)
	}
	calls, _ := echoed("0x1", "0x2")
	if err := rpc(t, limited).Batch(t.Context(), calls...); upstream.ClassOf(err) != upstream.RateLimited {
		t.Errorf("Batch() = %v, want a rate limit", err)
	}
}

func TestBatchMatchesAnswersByID(t *testing.T) {
	requests := 0
	counting := pooltest.Transport(func(r *http.Request) (*http.Response, error) { requests++; return node(echo)(r) })
	want := rand.Perm(40)
	calls, results := echoed(want...)
	if must.Do(t, rpc(t, counting).Batch(t.Context(), calls...)); !slices.Equal(results, want) {
		t.Errorf("results %v, want %v", results, want)
	}
	if requests != 1 {
		t.Errorf("%d requests, want 1", requests)
	}
}

func TestBatchTellsEachCallsError(t *testing.T) {
	reverting := node(func(call rpctest.Call) string {
		if call.Method == "eth_estimateGas" {
			return `"error":{"code":3,"message":"execution reverted"}`
		}
		return echo(call)
	})
	var first, second string
	calls := []*jsonrpc.Call{
		{Method: "eth_call", Params: []any{"0x1"}, Out: &first}, {Method: "eth_estimateGas", Params: []any{"0x2"}, Out: &second},
	}
	err := rpc(t, reverting).Batch(t.Context(), calls...)
	var said *jsonrpc.Error
	if err != nil || calls[0].Err != nil || first != "0x1" || !errors.As(calls[1].Err, &said) || !said.IsRevert() {
		t.Errorf("Batch() = %v; calls = %v, %v", err, calls[0].Err, calls[1].Err)
	}
}

func TestBatchAsksElsewhereForWhatIsMissing(t *testing.T) {
	forgetful := pooltest.Transport(func(r *http.Request) (*http.Response, error) {
		full, err := node(echo)(r)
		if err != nil {
			return nil, err
		}
		text, _ := io.ReadAll(full.Body)
		var objects []json.RawMessage
		if err := json.Unmarshal(text, &objects); err != nil {
			return nil, err
		}
		kept, err := json.Marshal(objects[1:])
		return pooltest.Answer(200, string(kept)), err
	})
	ask := func(r *jsonrpc.Client) ([]int, []*jsonrpc.Call, error) {
		calls, results := echoed(1, 2, 3)
		return results, calls, r.Batch(t.Context(), calls...)
	}
	if results, _, err := ask(rpc(t, forgetful, node(echo))); err != nil || !slices.Equal(results, []int{1, 2, 3}) {
		t.Errorf("Batch() = %v, %v, want all results from the second endpoint", results, err)
	}
	results, calls, err := ask(rpc(t, forgetful))
	if err != nil || !slices.Equal(results, []int{1, 2, 0}) || upstream.ClassOf(calls[2].Err) != upstream.BadAnswer {
		t.Errorf("Batch() = %v, %v with %v for the last call, want the others' results", results, err, calls[2].Err)
	}
}

func TestBatchShrinksToWhatEndpointsTake(t *testing.T) {
	for name, refuse := range map[string]func() *http.Response{
		"error object": func() *http.Response {
			return pooltest.Answer(200, `{"jsonrpc":"2.0","id":null,"error":{"code":31,"message":"Batch of more than 3 requests are not allowed"}}`)
		},
		"status": func() *http.Response { return pooltest.Answer(413, "too large") },
	} {
		t.Run(name, func(t *testing.T) {
			var largest atomic.Int64
			small := pooltest.Transport(func(r *http.Request) (*http.Response, error) {
				asked, err := rpctest.Read(r)
				size := len(asked.Calls)
				if size > 3 || err != nil {
					return refuse(), nil
				}
				for seen := largest.Load(); int64(size) > seen && !largest.CompareAndSwap(seen, int64(size)); {
					seen = largest.Load()
				}
				return node(echo)(r)
			})
			client := rpc(t, small)
			for range 2 {
				want := rand.Perm(20)
				calls, results := echoed(want...)
				if must.Do(t, client.Batch(t.Context(), calls...)); !slices.Equal(results, want) {
					t.Errorf("results %v, want %v", results, want)
				}
			}
			if largest.Load() != 3 {
				t.Errorf("largest batch that was taken: %d, want 3", largest.Load())
			}
		})
	}
}

func TestBudgetCountsUnitsOfMethods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := pooltest.Endpoint(t, "node", node(echo), upstream.EndpointOptions{
			RequestsPerSecond: 10, Burst: 100,
		})
		client := jsonrpc.New(upstream.NewPool("chain", e))
		client.Capabilities("node").SetCosts(map[string]int{"eth_getLogs": 75, "eth_call": 26, "*": 10})
		must.Do(t, client.Call(t.Context(), "eth_getLogs", new(any), 1))
		start := time.Now()
		calls := []*jsonrpc.Call{{Method: "eth_call"}, {Method: "eth_chainId"}} // costs 36 units; 25 are left
		must.Do(t, client.Batch(t.Context(), calls...))
		if took := time.Since(start); took != 1100*time.Millisecond {
			t.Errorf("a batch of 36 units with 25 left at 10 a second took %v, want 1.1 s", took)
		}
	})
}

func TestAcceptSendsTheCallOn(t *testing.T) {
	wrong := says(`"result":"0x2"`)
	var got string
	call := &jsonrpc.Call{Method: "eth_chainId", Params: []any{"0x1"}, Out: &got, Accept: func(result any) error {
		if *result.(*string) != "0x1" {
			return errors.New("another chain")
		}
		return nil
	}}
	if err := rpc(t, wrong, node(echo)).Batch(t.Context(), call); err != nil || got != "0x1" {
		t.Errorf("Batch() = %q, %v, want the acceptable answer", got, err)
	}
	got = ""
	if err := rpc(t, wrong).Batch(t.Context(), call); upstream.ClassOf(err) != upstream.BadAnswer || got != "" {
		t.Errorf("Batch() = %q, %v, want a bad answer and nothing decoded", got, err)
	}
}

// No response of an endpoint may be taken for the answer to another question, or cause a crash.
func FuzzCall(f *testing.F) {
	f.Add(`{"jsonrpc":"2.0","id":1,"result":"0x1"}`, 200)
	f.Add(`[{"jsonrpc":"2.0","id":"1","result":null}]`, 200)
	f.Add(`{"id":1,"error":{"code":3,"message":"execution reverted","data":"0x"}}`, 400)
	f.Add(`<html>`, 200)
	f.Add(`[]`, 404)
	f.Fuzz(func(t *testing.T, body string, status int) {
		if status < 200 || status > 599 {
			status = 200
		}
		client := rpc(t, pooltest.Always(status, body))
		var one string
		if err := client.Call(t.Context(), "eth_call", &one); err == nil && !tellsText(body, one) {
			t.Errorf("Call() = %q of %q, which does not say so", one, body)
		}
		calls := []*jsonrpc.Call{{Method: "eth_call", Out: &one}, {Method: "eth_chainId", Out: new(map[string]any)}}
		if err := client.Batch(t.Context(), calls...); err != nil && (calls[0].Err == nil || calls[1].Err == nil) {
			t.Errorf("Batch() = %v, but a call has no error", err)
		}
	})
}

// tellsText reports whether a response, or one of several, has text as its result.
func tellsText(body, text string) bool {
	type response struct{ Result *string }
	var one response
	var several []response
	if json.Unmarshal([]byte(body), &one) == nil {
		several = []response{one}
	} else if json.Unmarshal([]byte(body), &several) != nil {
		return false
	}
	return slices.ContainsFunc(several, func(r response) bool { return r.Result != nil && *r.Result == text })
}

// BenchmarkCall measures the cost of a call apart from the network.
func BenchmarkCall(b *testing.B) {
	requests := 0
	e := must.Get(upstream.NewEndpoint(upstream.EndpointOptions{
		Name: "node", URL: "http://node.invalid/", RequestsPerSecond: 1e9, Burst: 1e9,
		Transport: pooltest.Transport(func(*http.Request) (*http.Response, error) {
			requests++
			return pooltest.Answer(200, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":"0x1"}`, requests)), nil
		}),
	}))(b)
	client := jsonrpc.New(upstream.NewPool("chain", e))
	var got string
	b.ReportAllocs()
	for b.Loop() {
		must.Do(b, client.Call(b.Context(), "eth_call", &got, "0x1"))
	}
}

// TestTwoAnswersToOneCallAreNone covers a server that returns two response objects with the same ID.
func TestTwoAnswersToOneCallAreNone(t *testing.T) {
	twice := func(r *http.Request) (*http.Response, error) {
		asked, err := rpctest.Read(r)
		asked.Calls = append(asked.Calls, rpctest.Call{ID: asked.Calls[0].ID, Params: []json.RawMessage{[]byte(`"0x9"`)}})
		return pooltest.Answer(200, asked.Answer(echo)), err
	}
	for name, answers := range map[string][]pooltest.Transport{"alone": {twice}, "beside another": {twice, node(echo)}} {
		calls, out := echoed("0x1", "0x2")
		_ = rpc(t, answers...).Batch(t.Context(), calls...)
		if (calls[0].Err != nil) != (len(answers) == 1) || out[0] == "0x9" {
			t.Errorf("%s: the call answered twice has %q, %v", name, out[0], calls[0].Err)
		}
		if calls[1].Err != nil || out[1] != "0x2" {
			t.Errorf("%s: the other one has %q, %v", name, out[1], calls[1].Err)
		}
	}
}

// TestWaitsAreUnderstood covers the ways in which endpoints say how long to wait.
func TestWaitsAreUnderstood(t *testing.T) {
	for _, test := range []struct {
		message, data string
		want          time.Duration
	}{
		{"too many requests, retry after 10s", "", 10 * time.Second},
		{"rate limited, try again in 2.5 minutes", "", 150 * time.Second},
		{"rate limited", `{"rate":{"allowed_rps":1,"backoff_seconds":30,"current_rps":1.2}}`, 30 * time.Second},
		{"rate limited", `{"backoff_ms":250}`, 250 * time.Millisecond},
		{"rate limited", `{"retry_after_ms":1500}`, 1500 * time.Millisecond},
		{"rate limited", `{"retryAfterMs":1500}`, 1500 * time.Millisecond},
		{"rate limited", `{"wait_milliseconds":1500,"retry_after":2}`, 2 * time.Second},
		{"rate limited", `{"retry_after":20000000000}`, 366 * 24 * time.Hour},
		{"try again in 2000000000 hours", "", 366 * 24 * time.Hour},
		{"try again in 0s", "", 0},
	} {
		e := &jsonrpc.Error{Code: -32005, Message: test.message, Data: json.RawMessage(test.data)}
		if got, told := e.Wait(); got != test.want || told != (test.want > 0) {
			t.Errorf("%q %s: wait %v, told %t, want %v", test.message, test.data, got, told, test.want)
		}
	}
}

// FuzzErrors: every error has one of the table's meanings, and every wait is finite.
func FuzzErrors(f *testing.F) {
	f.Add(-32005, "query returned more than 10000 results. Try with this block range [0x1E8480, 0x1E84E3].", `{"from":"0x1","to":"0x5"}`)
	f.Add(429, "retry after 10ms", `{"backoff_seconds":30}`)
	f.Add(-32000, "missing trie node, oldest block 500, only the last 128 blocks", `["a",{"max_range":5}]`)
	f.Fuzz(func(t *testing.T, code int, message, data string) {
		e := &jsonrpc.Error{Code: code, Message: message, Data: json.RawMessage(data)}
		if wait, told := e.Wait(); told && (wait <= 0 || wait > 366*24*time.Hour) {
			t.Errorf("%+q %+q: wait %v", message, data, wait)
		}
		if first := e.Meaning(); first != e.Meaning() || first.Class() == "" {
			t.Errorf("%+q %+q: means %q", message, data, first)
		}
	})
}

// A failure that may be temporary is retried at the same endpoint, and only for the calls that it affected; a permanent
// one is not.
func TestEachRepeatsWhatMayPass(t *testing.T) {
	object := func(code int, message string) pooltest.Transport { return says(rpctest.Fault(code, message)) }
	for name, test := range map[string]struct {
		failing  pooltest.Transport
		repeated bool
	}{
		"no JSON":                     {pooltest.Always(200, "<html>Just a moment...</html>"), true},
		"inner error":                 {object(-32603, "Internal error"), true},
		"inner error with its reason": {object(-32603, "execution reverted"), false},
		"429":                         {pooltest.Always(429, ""), true},
		"429 that says for how long":  {pooltest.Always(429, "", "Retry-After", "1"), false},
		"429 in an object":            {object(429, "slow down"), true},
		"500":                         {pooltest.Always(500, ""), true},
		"broken connection":           {func(*http.Request) (*http.Response, error) { return nil, errors.New("reset by peer") }, true},
		"unknown method":              {object(-32601, "the method does not exist"), false},
		"pruned state":                {object(-32000, "missing trie node"), false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				requests := 0
				client := jsonrpc.New(upstream.NewPool("chain", pooltest.Endpoint(t, "only", func(r *http.Request) (*http.Response, error) {
					if requests++; requests == 1 || test.repeated && requests < 4 {
						return test.failing(r)
					}
					return says(`"result":"it"`)(r)
				})))
				var found string
				call := jsonrpc.NewCall(&found, nil, "find")
				client.Each(t.Context(), call)
				if (call.Err == nil) != test.repeated || (requests > 1) != test.repeated {
					t.Errorf("%v after %d requests", call.Err, requests)
				}
			})
		})
	}
}
