package sandbox

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
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
