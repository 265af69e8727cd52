package jsonrpc_test

import (
	"encoding/json"
	"testing"
	"time"

	"crossgate/upstream/jsonrpc"
)

// TestProvidersLimitsAreUnderstood holds what providers and nodes say of searches that are too wide.
func TestProvidersLimitsAreUnderstood(t *testing.T) {
	for _, test := range []struct {
		code    int
		message string
		limit   uint64 // of every search
		fitting uint64 // of this one
	}{
		{-32602, "Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size, or you can request any block range with a cap of 10K logs in the response. Based on your parameters and the response size limit, this block range should work: [0x10, 0x1f]", 0, 16},
		{-32600, "Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range. Based on your parameters, this block range should work: [0x10, 0x19]. Upgrade to PAYG for expanded block range.", 10, 10},
		{-32005, "query returned more than 10000 results. Try with this block range [0x1E8480, 0x1E84E3].", 0, 100},
		{-32614, "eth_getLogs is limited to a 10,000 range", 10_000, 0},
		{-32602, "eth_getLogs and eth_newFilter are limited to a 5 blocks range", 5, 0},
		{-32600, "block range is too wide", 0, 0},
		{-32602, "eth_getLogs is limited to 1024 block range. Please check the parameter requirements", 1024, 0},
		{35, "ranges over 10000 blocks are not supported on freetier", 10_000, 0},
		{-32701, "exceed maximum block range: 50000", 50_000, 0},
		{-32602, "eth_getLogs range is too large, max is 1k blocks", 1000, 0},
		{-32000, "block range too large, range: 1001, max: 800", 800, 0},
		{-32600, "eth_getLogs is limited to 0 - 10000 blocks range", 10_000, 0},
		{-32000, "the block range exceeds the range allowed for your plan (8000 > 500)", 500, 0},
		{-32602, "query exceeds max block range 100000", 100_000, 0},
		{-32602, "query exceeds max results 20000, retry with the range 2000000-2000499", 0, 500},
		{-32000, "block range greater than 10000 max", 10_000, 0},
		{-32000, "requested too many blocks from 1 to 100000, maximum is set to 2048", 2048, 0},
		{-32603, "block range is too wide (maximum 1024)", 1024, 0},
		{-32005, "Requested range exceeds maximum RPC range limit", 0, 0},
		{-32000, "logs matched by query exceeds limit of 10000", 0, 0},
		{-32000, "query timeout of 10 seconds exceeded", 0, 0},
		{-32000, "Block range is too large", 0, 0},
		{-32000, "too many logs requested, limit is 10000", 0, 0},
		{-32602, "Block range limit exceeded. See more details at the documentation", 0, 0},
	} {
		e := &jsonrpc.Error{Code: test.code, Message: test.message}
		limit, limited := e.SpanLimit(1_000_000)
		fitting, fits := e.FittingSpan()
		if !isTooWide(e) || limit != test.limit || limited != (test.limit > 0) || fitting != test.fitting || fits != (test.fitting > 0) {
			t.Errorf("%q: too wide %v, limit %d, fitting %d, want %d and %d", test.message, isTooWide(e), limit, fitting, test.limit, test.fitting)
		}
	}
	for _, message := range []string{"execution reverted", "header not found", "missing trie node", "rate limit of 10 requests per second", "method not found"} {
		if isTooWide(&jsonrpc.Error{Code: -32000, Message: message}) {
			t.Errorf("%q is taken for a search that is too wide", message)
		}
	}
}

func isTooWide(e *jsonrpc.Error) bool {
	return e.Meaning() == jsonrpc.RangeLimit || e.Meaning() == jsonrpc.ResultLimit
}

// TestLimitsOfResultsAreUnderstood holds what providers and nodes say of answers that would be too long.
func TestLimitsOfResultsAreUnderstood(t *testing.T) {
	for message, want := range map[string]uint64{
		"query returned more than 10000 results":                                                   10_000,
		"Query returned more than 50,000 results. Try with this block range [0x100000, 0x1001b6].": 50_000,
		"logs matched by query exceeds limit of 10000":                                             10_000,
		"too many logs requested, limit is 10000":                                                  10_000,
		"query exceeds max results 20000, retry with the range 2000000-2000499":                    20_000,
		"exceeds max log count of 5000":                                                            5000,
		"Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size, or you can request any block range with a cap of 10K logs in the response. Based on your parameters and the response size limit, this block range should work: [0x10, 0x1f]": 10_000,
		"query timeout of 10 seconds exceeded":                   0,
		"backend response too large":                             0,
		"response size exceeds 150 MB":                           0,
		"number of matching logs exceeds the limit":              0,
		"eth_getLogs is limited to 1024 block range":             0,
		"execution reverted: more than 10000 results":            0,
		"You have exceeded the limit of 100 requests per second": 0,
	} {
		e := &jsonrpc.Error{Code: -32005, Message: message}
		if got, told := e.Results(); got != want || told != (want > 0) {
			t.Errorf("%q: %d results, told %t, want %d", message, got, told, want)
		}
	}
}

// TestWaitsAreUnderstood holds how endpoints say for how long they want to be left alone.
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

// TestLimitsOfBatchesAreUnderstood holds what is said of batches that are too large, in calls and in other units.
func TestLimitsOfBatchesAreUnderstood(t *testing.T) {
	for message, want := range map[string]int{
		"Batch of more than 3 requests are not allowed": 3,
		"batch size 50 exceeds the limit of 10":         10,
		"batch requests are not supported":              1,
		"batch too large":                               0,
		"batch response size exceeds 10MB":              0,
		"batch request body exceeds 5 MiB":              0,
		"batch request exceeds limit of 20 kb":          0,
		"batch call took more than 30s":                 0,
		"batch exceeds the limit of 26 million bytes":   0,
	} {
		e := &jsonrpc.Error{Code: -32000, Message: message}
		if got, told := e.BatchLimit(50); told != (want > 0) || told && got != want {
			t.Errorf("%q: %s, %d calls, told %t, want %d", message, e.Meaning(), got, told, want)
		}
	}
}

// FuzzHints: whatever an error says, what is read from it can be gone by. Limits are less than what was refused, and
// waits end.
func FuzzHints(f *testing.F) {
	f.Add(-32005, "query returned more than 10000 results. Try with this block range [0x1E8480, 0x1E84E3].", `{"from":"0x1","to":"0x5"}`)
	f.Add(31, "Batch of more than 3 requests are not allowed", "")
	f.Add(429, "retry after 10ms", `{"backoff_seconds":30}`)
	f.Add(-32000, "missing trie node, oldest block 500, only the last 128 blocks", `["a",{"max_range":5}]`)
	f.Add(-32602, "block range exceeds 0x3e8", `{"maxBlockRange":10}`)
	f.Fuzz(func(t *testing.T, code int, message, data string) {
		e := &jsonrpc.Error{Code: code, Message: message, Data: json.RawMessage(data)}
		const asked, most = 1000, 366 * 24 * time.Hour
		if wait, told := e.Wait(); told && (wait <= 0 || wait > most) {
			t.Errorf("%+q %+q: wait %v", message, data, wait)
		}
		for name, read := range map[string]func() (uint64, bool){
			"span": func() (uint64, bool) { return e.SpanLimit(asked) }, "fitting": e.FittingSpan, "results": e.Results,
			"depth": e.Depth, "floor": e.Floor,
		} {
			if n, told := read(); told && n == 0 || name == "span" && told && n >= asked {
				t.Errorf("%+q %+q: %s of %d", message, data, name, n)
			}
		}
		if calls, told := e.BatchLimit(asked); told && (calls < 1 || calls >= asked) {
			t.Errorf("%+q %+q: batches of %d", message, data, calls)
		}
		if first := e.Meaning(); first != e.Meaning() || first.String() == "" {
			t.Errorf("%+q %+q: means %d", message, data, first)
		}
	})
}
