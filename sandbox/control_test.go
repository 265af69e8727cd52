package sandbox

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// steer makes a control call and returns the order that it answers with.
func steer(t *testing.T, w *World, call string, body map[string]any) shownOrder {
	t.Helper()
	status, text := request(t, http.MethodPost, w.URL()+"/sandbox/"+call, body)
	var shown shownOrder
	if err := json.Unmarshal(text, &shown); err != nil || status != http.StatusOK {
		t.Fatalf("%s = %d %s, %v", call, status, text, err)
	}
	return shown
}

func TestControlsTakeAnOrderThroughItsLife(t *testing.T) {
	w := grown(t)
	o := steer(t, w, "create", map[string]any{
		"chainId": sonic, "takeChainId": base, "giveToken": "usdc", "giveAmount": "12.5", "takeToken": "", "takeAmount": "0.004",
	})
	body := map[string]any{"orderId": o.OrderID}
	if o.State != "Created" || o.ChainID != sonic || o.TakeChainID != base {
		t.Errorf("created %+v", o)
	}
	if got := steer(t, w, "fulfil", map[string]any{"orderId": o.OrderID, "taker": w.Takers()[1].Address}); got.State != "Fulfilled" {
		t.Errorf("after fulfil: %s", got.State)
	}
	if status, text := request(t, http.MethodPost, w.URL()+"/sandbox/unlock", body); status != http.StatusOK || !strings.Contains(string(text), "SentUnlock") {
		t.Errorf("unlock = %d %s", status, text)
	}
	if got := steer(t, w, "claim", body); got.State != "ClaimedUnlock" {
		t.Errorf("after claim: %s", got.State)
	}
	// The world shows it as it is now.
	for _, shown := range shown(t, w).Orders {
		if shown.OrderID == o.OrderID && shown.State != "ClaimedUnlock" {
			t.Errorf("the world shows %s", shown.State)
		}
	}
}

func TestControlsTakeAnOrderBack(t *testing.T) {
	w := grown(t)
	o := steer(t, w, "create", map[string]any{
		"chainId": mainnet, "takeChainId": polygon, "giveAmount": "0.5", "takeToken": dai, "takeAmount": "1490",
	})
	body := map[string]any{"orderId": o.OrderID}
	if got := steer(t, w, "cancel", body); got.State != "SentOrderCancel" {
		t.Errorf("after cancel: %s", got.State)
	}
	if got := steer(t, w, "claim-cancel", body); got.State != "ClaimedOrderCancel" {
		t.Errorf("after claim-cancel: %s", got.State)
	}
}

func TestControlsUnlockABatch(t *testing.T) {
	w := grown(t)
	var ids []any
	for range 3 {
		o := steer(t, w, "create", map[string]any{
			"chainId": base, "takeChainId": polygon, "giveToken": usdc, "giveAmount": "7", "takeToken": usdc, "takeAmount": "6.9",
		})
		steer(t, w, "fulfil", map[string]any{"orderId": o.OrderID})
		ids = append(ids, o.OrderID)
	}
	status, text := request(t, http.MethodPost, w.URL()+"/sandbox/unlock", map[string]any{"orderIds": ids})
	if status != http.StatusOK || strings.Count(string(text), "SentUnlock") != 3 {
		t.Errorf("unlock of three = %d %s", status, text)
	}
	if got := steer(t, w, "claim", map[string]any{"orderId": ids[2]}); got.State != "ClaimedUnlock" {
		t.Errorf("after the claim of the batch: %s", got.State)
	}
}

func TestControlsRefuseClearly(t *testing.T) {
	w := open(t, Options{})
	orders, err := w.Orders(t.Context())
	if err != nil {
		t.Fatal(err)
	}
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

func TestControlsMineReorgAndFail(t *testing.T) {
	w := open(t, Options{})
	before := w.Chains()[0].node.head()
	for _, tt := range []struct {
		call string
		body map[string]any
		head uint64
	}{
		{"mine", map[string]any{"chainId": 1, "blocks": 3}, before + 3},
		{"reorg", map[string]any{"chainId": 1, "depth": 2}, before + 4},
	} {
		status, text := request(t, http.MethodPost, w.URL()+"/sandbox/"+tt.call, tt.body)
		if status != http.StatusOK || w.Chains()[0].node.head() != tt.head {
			t.Errorf("%s = %d %s, head %d, want %d", tt.call, status, text, w.Chains()[0].node.head(), tt.head)
		}
	}
	for target, body := range map[string]map[string]any{
		"137":       {"target": 137, "kind": "limited", "retryAfter": 2},
		"kyberswap": {"target": "kyberswap", "kind": "slow", "delayMs": 10},
	} {
		status, text := request(t, http.MethodPost, w.URL()+"/sandbox/fault", body)
		if _, found := w.faults.look()[target]; status != http.StatusOK || !found {
			t.Errorf("fault %v = %d %s", body, status, text)
		}
	}
	status, text := request(t, http.MethodGet, w.URL()+"/", nil)
	if status != http.StatusOK || strings.Count(string(text), "POST /sandbox/") != len(controls) {
		t.Errorf("GET / = %d %s, want every call", status, text)
	}
}
