package jsonrpc_test

import (
	"encoding/json"
	"testing"
	"time"

	"crossgate/upstream/jsonrpc"
)

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

// FuzzErrors: whatever an error says, it means something that the table has, and waits end.
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
