package sandbox

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/internal/recorded"
)

// tronAnswer is the answer of TRON's endpoint to one call.
type tronAnswer struct {
	Result json.RawMessage
	Error  *struct {
		Code          int
		Message, Data string
	}
}

func askTron(t *testing.T, method string, params ...any) tronAnswer {
	t.Helper()
	c, here := untouched.Chain(chain.Tron)
	if !here {
		t.Fatal("no TRON in the world")
	}
	if params == nil {
		params = []any{}
	}
	status, text := request(t, http.MethodPost, c.RPC, map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	var answer tronAnswer
	if err := json.Unmarshal(text, &answer); err != nil || status != http.StatusOK {
		t.Fatalf("%s = %d %s, %v", method, status, text, err)
	}
	return answer
}

// members decodes a result that is an object.
func (a tronAnswer) members(t *testing.T) map[string]any {
	t.Helper()
	var members map[string]any
	if err := json.Unmarshal(a.Result, &members); err != nil || members == nil {
		t.Fatalf("result %.200s, error %+v: want an object", a.Result, a.Error)
	}
	return members
}

func TestTronRefusesAsItsNodesDo(t *testing.T) {
	c, _ := untouched.Chain(chain.Tron)
	usdtAddress := c.token(usdt).Address.Hex()
	symbol := map[string]any{"to": usdtAddress, "data": "0x95d89b41"}
	const onlyNewest, onlyTag = "TAG [earliest | pending | finalized | safe] not supported", "QUANTITY not supported, just support TAG as latest"
	for _, tt := range []struct {
		method string
		params []any
		code   int
		says   string
	}{
		{"eth_feeHistory", []any{"0xa", "latest", []int{50}}, -32601, "does not exist"},
		{"eth_sendRawTransaction", []any{"0x00"}, -32601, "does not exist"},
		{"eth_getTransactionCount", []any{usdtAddress, "latest"}, -32601, "does not exist"},
		{"eth_simulateV1", []any{map[string]any{}, "latest"}, -32601, "does not exist"},
		{"eth_getBlockByNumber", []any{"safe", false}, -32602, "TAG safe not supported"},
		{"eth_getBlockByNumber", []any{"newest", false}, -32602, "invalid block number"},
		{"eth_getTransactionReceipt", []any{"0x12"}, -32602, "invalid hash value"},
		{"eth_call", []any{symbol, "0x1"}, -32602, onlyTag},
		{"eth_call", []any{symbol, "finalized"}, -32602, onlyNewest},
		{"eth_call", []any{symbol, "latest", map[string]any{}}, -32602, "parameters"}, // no overrides
		{"eth_call", []any{map[string]any{"to": "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", "data": "0x95d89b41"}, "latest"}, -32602, "invalid address"},
		{"eth_call", []any{map[string]any{"to": madeAddress("nobody").Hex(), "data": "0x95d89b41"}, "latest"}, -32600, "Smart contract is not exist."},
		{"eth_call", []any{map[string]any{"to": usdtAddress, "data": "0x12345678"}, "latest"}, -32000, "REVERT opcode executed"},
		{"eth_getBalance", []any{usdtAddress, "0x1"}, -32602, onlyTag},
		{"eth_getLogs", []any{map[string]any{"fromBlock": "0x2", "toBlock": "0x1"}}, -32602, "fromBlock <= toBlock"},
		{"eth_getLogs", []any{map[string]any{"address": "TR7N"}}, -32602, "invalid address at index 0"},
		{"eth_getLogs", []any{map[string]any{"topics": make([]any, 5)}}, -32602, "topics size"},
	} {
		answer := askTron(t, tt.method, tt.params...)
		if answer.Error == nil || answer.Error.Code != tt.code || !strings.Contains(answer.Error.Message, tt.says) || answer.Error.Data == "" {
			t.Errorf("%s %v = %.80s %+v, want error %d saying %q", tt.method, tt.params, answer.Result, answer.Error, tt.code, tt.says)
		}
	}
}

// TestTronAnswersAreShapedAsRecorded proves that the sandbox's answers have exactly the members of real nodes' answers.
func TestTronAnswersAreShapedAsRecorded(t *testing.T) {
	orders := must.Get(untouched.Orders(t.Context()))(t)
	from := slices.IndexFunc(orders, func(o Order) bool { return o.GiveChain() == chain.Tron })
	for _, method := range []string{"eth_getTransactionReceipt", "eth_getTransactionByHash"} {
		t.Run(method, func(t *testing.T) {
			var known struct {
				Response struct {
					Body struct{ Result map[string]any }
				}
			}
			recorded.JSON(t, "recorded/chains/tron-jsonrpc-"+method+".json", &known)
			got, want := askTron(t, method, orders[from].CreationTx.Format(chain.EVM)).members(t), known.Response.Body.Result
			if diff := cmp.Diff(names(want), names(got)); diff != "" {
				t.Errorf("members (-recorded +sandbox):\n%s", diff)
			}
			for _, name := range []string{"type", "gasPrice", "effectiveGasPrice", "nonce"} {
				if got[name] != want[name] {
					t.Errorf("%s = %v, recorded %v", name, got[name], want[name])
				}
			}
			if logs, has := want["logs"].([]any); has {
				got := got["logs"].([]any)[0].(map[string]any)
				if diff := cmp.Diff(names(logs[0].(map[string]any)), names(got)); diff != "" {
					t.Errorf("members of a log (-recorded +sandbox):\n%s", diff)
				}
			}
		})
	}
}

func names(members map[string]any) []string { return slices.Sorted(maps.Keys(members)) }
