package sandbox

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/rawdb"
	"github.com/ethereum/go-ethereum/core/types"

	"crossgate/internal/must"
)

// steer makes a control call and returns the order in the answer.
func steer(t *testing.T, w *World, call string, body map[string]any) shownOrder {
	t.Helper()
	status, text := request(t, http.MethodPost, w.URL()+"/sandbox/"+call, body)
	var shown shownOrder
	if err := json.Unmarshal(text, &shown); err != nil || status != http.StatusOK {
		t.Fatalf("%s = %d %s, %v", call, status, text, err)
	}
	return shown
}

func TestControlsRefuseClearly(t *testing.T) {
	w := untouched // refusals change nothing
	orders := must.Get(w.Orders(t.Context()))(t)
	unknown := "0x" + strings.Repeat("ab", 32)
	for _, tt := range []struct {
		method, path string
		body         any
		status       int
		says         string
	}{
		{"POST", "fulfil", map[string]any{"orderId": unknown}, http.StatusNotFound, "no such order"},
		{"POST", "fulfil", map[string]any{"order": unknown}, http.StatusBadRequest, "unknown field"},
		{"POST", "fulfil", "text", http.StatusBadRequest, "want {"},
		{"POST", "claim", map[string]any{"orderId": orders[len(orders)-1].ID}, http.StatusConflict, "no unlock or cancel"},
		{"POST", "unlock", map[string]any{"orderId": orders[len(orders)-1].ID}, http.StatusConflict, "not been fulfilled"},
		{"POST", "cancel", map[string]any{"orderId": orders[1].ID}, http.StatusConflict, "IncorrectOrderStatus"},
		{"POST", "create", map[string]any{"chainId": 5}, http.StatusBadRequest, "not in the sandbox"},
		{"POST", "create", map[string]any{"chainId": 1, "giveToken": "GOLD", "giveAmount": "1"}, http.StatusBadRequest, "GOLD"},
		{"POST", "create", map[string]any{"chainId": 1, "giveToken": "USDC", "giveAmount": "1.1234567"}, http.StatusBadRequest, "6 decimals"},
		{"POST", "mine", map[string]any{"chainId": 1}, http.StatusBadRequest, "0 blocks"},
		{"POST", "reorg", map[string]any{"chainId": 1, "depth": 1000000}, http.StatusBadRequest, "depth"},
		{"POST", "fault", map[string]any{"target": "mars", "kind": "down"}, http.StatusBadRequest, "kyberswap"},
		{"POST", "dance", nil, http.StatusNotFound, "GET / lists"},
	} {
		status, text := request(t, tt.method, w.URL()+"/sandbox/"+tt.path, tt.body)
		var refusal struct{ Error string }
		if err := json.Unmarshal(text, &refusal); err != nil || status != tt.status || !strings.Contains(refusal.Error, tt.says) {
			t.Errorf("%s %v = %d %s, want %d saying %q", tt.path, tt.body, status, text, tt.status, tt.says)
		}
	}
}

// TestNoBlockIsTooOldForAReorg proves that go-ethereum's freezer, which once a minute moves blocks that the database
// says are final, finds none. After a deeper reorg their logs would have no receipts, which once stopped an index.
func TestNoBlockIsTooOldForAReorg(t *testing.T) {
	w := open(t, Options{})
	c := w.chains[0]
	must.Do(t, w.Mine(t.Context(), c.Facts.ID, 20))
	var finalized *types.Header
	must.Do(t, c.node.client.Client().CallContext(t.Context(), &finalized, "eth_getBlockByNumber", "finalized", false))
	if want := c.node.head() - c.node.finality.finalized; finalized.Number.Uint64() != want {
		t.Errorf("finalized is block %s, want %d", finalized.Number, want)
	}
	if told := rawdb.ReadFinalizedBlockHash(c.node.eth.ChainDb()); told != (common.Hash{}) {
		t.Errorf("the freezer takes everything up to %s", told)
	}
}
