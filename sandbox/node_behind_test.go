package sandbox

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/internal/must"
)

// TestNodesBehindLackTheNewestBlocks asks nodes of each family about their newest block and the one after it.
func TestNodesBehindLackTheNewestBlocks(t *testing.T) {
	const behind = 3
	w := open(t, Options{})
	mainnet, _ := w.Chain(1)
	tron, _ := w.Chain(chain.Tron)
	for _, c := range []*Chain{mainnet, tron} {
		inject(t, w, c.Facts.ID.String(), Fault{Kind: Unreliable, Rules: []string{fmt.Sprintf("lag:%d:1", behind)}})
		head := c.node.head()
		hash := func(number uint64) string {
			var block struct{ Hash string }
			inject(t, w, c.Facts.ID.String(), Fault{Kind: NoFault})
			decode(t, askAt(t, c.RPC, "eth_getBlockByNumber", fmt.Sprintf("0x%x", number), false), &block)
			inject(t, w, c.Facts.ID.String(), Fault{Kind: Unreliable, Rules: []string{fmt.Sprintf("lag:%d:1", behind)}})
			return block.Hash
		}
		for _, test := range []struct {
			method string
			params []any
			want   string
		}{
			{"eth_blockNumber", nil, fmt.Sprintf(`"result":"0x%x"`, head-behind)},
			{"eth_getBlockByNumber", []any{"latest", false}, hash(head - behind)},
			{"eth_getBlockByNumber", []any{fmt.Sprintf("0x%x", head-behind), false}, hash(head - behind)},
			{"eth_getBlockByNumber", []any{fmt.Sprintf("0x%x", head-behind+1), false}, `"result":null`},
			{"eth_getBlockByHash", []any{hash(head), false}, `"result":null`},
			{"eth_getLogs", []any{map[string]any{"blockHash": hash(head)}}, `"error"`},
			{"eth_getLogs", []any{map[string]any{"blockHash": hash(head - behind)}}, `"result":[`},
		} {
			if got := askAt(t, c.RPC, test.method, test.params...); !strings.Contains(got, test.want) {
				t.Errorf("%s: %s%v at a node %d behind = %s, want %s", c.Facts.ID, test.method, test.params, behind, got, test.want)
			}
		}
	}
	inject(t, w, chain.Solana.String(), Fault{Kind: Unreliable, Rules: []string{"lag:3:1"}})
	if got, want := askAt(t, w.Solana().RPC, "getSlot", map[string]any{"commitment": "confirmed"}), w.Solana().Head(); !strings.Contains(got, `"result":`) ||
		strings.Contains(got, fmt.Sprint(want)) {
		t.Errorf("getSlot at a node behind slot %d = %s", want, got)
	}
}

func askAt(t *testing.T, url, method string, params ...any) string {
	t.Helper()
	if params == nil {
		params = []any{}
	}
	_, text := request(t, http.MethodPost, url, map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	return string(text)
}

func decode(t *testing.T, answered string, into any) {
	t.Helper()
	var object struct{ Result json.RawMessage }
	must.Do(t, json.Unmarshal([]byte(answered), &object))
	if err := json.Unmarshal(object.Result, into); err != nil {
		t.Fatalf("%s: %v", answered, err)
	}
}
