package sandbox

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/internal/must"
)

func inject(t *testing.T, w *World, target string, f Fault) {
	t.Helper()
	must.Do(t, w.Inject(target, f))
	t.Cleanup(func() { must.Do(t, w.Inject(target, Fault{Kind: NoFault})) })
}

// TestFaultsAreWhatTheySay makes a chain's endpoint fail in each way, and recover.
func TestFaultsAreWhatTheySay(t *testing.T) {
	w := grown(t)
	url := w.Chains()[0].RPC
	for _, row := range []struct {
		fault  Fault
		status int // 0: none
		says   string
	}{
		{Fault{Kind: Down}, 0, ""},
		{Fault{Kind: Limited, RetryAfter: 7 * time.Second, Requests: 1}, http.StatusTooManyRequests, ""},
		{Fault{Kind: Wrong, As: AsHTML}, http.StatusOK, "<html>"},
		{Fault{Kind: Wrong, As: AsGarbage}, http.StatusOK, `{"jsonrpc"`},
		{Fault{Kind: Wrong, As: AsChain}, http.StatusOK, `"result":"` + strangeChainID},
		{Fault{Kind: NoFault}, http.StatusOK, `"result":"0x1"`},
	} {
		inject(t, w, "1", row.fault)
		answered, err := http.Post(url, "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}`))
		if err != nil {
			if row.status != 0 {
				t.Errorf("%+v: %v", row.fault, err)
			}
			continue
		}
		var said strings.Builder
		_ = answered.Write(&said) // including a truncated body
		answered.Body.Close()
		if answered.StatusCode != row.status || !strings.Contains(said.String(), row.says) ||
			(answered.Header.Get("Retry-After") == "7") != (row.fault.Kind == Limited) {
			t.Errorf("%+v: %s, want %d with %q", row.fault, &said, row.status, row.says)
		}
	}
}

// TestAnotherChainInABatch proves that only the chain ID is false in another chain's answer to a batch.
func TestAnotherChainInABatch(t *testing.T) {
	w := grown(t)
	inject(t, w, "8453", Fault{Kind: Wrong, As: AsChain})
	_, body := request(t, http.MethodPost, w.Chains()[2].RPC, []any{
		map[string]any{"jsonrpc": "2.0", "id": 1, "method": "eth_chainId"},
		map[string]any{"jsonrpc": "2.0", "id": 2, "method": "eth_getBlockByNumber", "params": []any{"0x0", false}},
	})
	var answers []struct {
		ID     int
		Result json.RawMessage
	}
	if err := json.Unmarshal(body, &answers); err != nil || len(answers) != 2 {
		t.Fatalf("a batch to another chain: %s", body)
	}
	for _, a := range answers {
		if (string(a.Result) == `"`+strangeChainID+`"`) != (a.ID == 1) || len(a.Result) < len(strangeChainID) {
			t.Errorf("call %d of a batch answers %.80s", a.ID, a.Result)
		}
	}
}

// TestNodesBehindLackTheNewestBlocks asks nodes of each family for their newest block and the next one.
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
