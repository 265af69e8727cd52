package balancer

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"crossgate/internal/must"
	"crossgate/sandbox/jsonrpc"
)

// nodeAt returns a node with ten blocks, less those that it lags. It lists all of them.
func nodeAt(behind uint64) http.Handler {
	return &jsonrpc.Node{
		Call: func(_ context.Context, r jsonrpc.Request) (any, error) {
			if r.Method == "eth_getLogs" {
				return make([]uint64, 10-behind), nil
			}
			return 10 - behind, nil
		},
		ContentType: "application/json", MaxBytes: 1 << 20,
	}
}

// ask sends a batch of calls of a method and returns the results.
func ask(t *testing.T, b *Balancer, method string, calls int) []json.RawMessage {
	t.Helper()
	batch := make([]string, calls)
	for i := range batch {
		batch[i] = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":[]}`, i, method)
	}
	told := httptest.NewRecorder()
	b.ServeHTTP(told, httptest.NewRequest(http.MethodPost, "/", strings.NewReader("["+strings.Join(batch, ",")+"]")))
	var answers []struct {
		ID     int
		Result json.RawMessage
	}
	if err := json.Unmarshal(told.Body.Bytes(), &answers); err != nil || len(answers) != calls {
		t.Fatalf("%d calls are answered %s", calls, told.Body)
	}
	results := make([]json.RawMessage, calls)
	for i, each := range answers {
		if results[i] = each.Result; each.ID != i {
			t.Errorf("call %d is answered as %d", i, each.ID)
		}
	}
	return results
}

// TestRulesMeetTheirShare counts how many calls of a batch each rule affects.
func TestRulesMeetTheirShare(t *testing.T) {
	const calls = 400
	for _, test := range []struct {
		rule, method string
		isBad        func(result string) bool
		share        float64
	}{
		{"lag:3:0.3", "eth_blockNumber", func(result string) bool { return result == "7" }, 0.3},
		{"split:1:1", "eth_blockNumber", func(result string) bool { return result == "9" }, 0.5},
		{"empty:0.2", "eth_getLogs", func(result string) bool { return result == "[]" }, 0.2},
		{"drop:0.1", "eth_getLogs", func(result string) bool { return strings.Count(result, "0") < 10 }, 0.65},
		{"null:0.5", "getTransaction", func(result string) bool { return result == "null" }, 0.5},
		{"null:0.5", "getBlock", func(result string) bool { return result != "10" }, 0},
		{"empty:1", "eth_blockNumber", func(result string) bool { return result != "10" }, 0},
	} {
		rules := must.Get(ParseRules(test.rule))(t)
		b := New(nodeAt, 1, rules...)
		bad := 0
		for _, result := range ask(t, b, test.method, calls) {
			if test.isBad(string(result)) {
				bad++
			}
		}
		if share := float64(bad) / calls; share < test.share-0.1 || share > test.share+0.1 || b.Bad() != bad {
			t.Errorf("%s: %d of %d calls to %s are spoilt, %d counted; want a share of %v", test.rule, bad, calls, test.method, b.Bad(), test.share)
		}
	}
}
