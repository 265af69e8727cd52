package sandbox

import (
	"net/http"
	"testing"

	"crossgate/chain"
	"crossgate/internal/must"
)

func TestControlsTakeAnOrderToSolanaAndBack(t *testing.T) {
	w := grown(t)
	for _, tt := range []struct {
		name string
		body map[string]any
		way  []string
		ends string
	}{
		{"to", map[string]any{"chainId": base, "takeChainId": chain.Solana, "giveToken": usdc, "giveAmount": "10", "takeToken": usdc, "takeAmount": "9.9"}, []string{"fulfil", "unlock", "claim"}, "ClaimedUnlock"},
		{"from", map[string]any{"chainId": chain.Solana, "takeChainId": polygon, "giveToken": "JitoSOL", "giveAmount": "1.5", "takeAmount": "500"}, []string{"fulfil", "unlock", "claim"}, "ClaimedUnlock"},
		{"to, cancelled", map[string]any{"chainId": sonic, "takeChainId": chain.Solana, "giveAmount": "10", "takeAmount": "0.05"}, []string{"cancel", "claim-cancel"}, "ClaimedOrderCancel"},
		{"from, cancelled", map[string]any{"chainId": chain.Solana, "takeChainId": base, "giveToken": usdc, "giveAmount": "10", "takeToken": usdc, "takeAmount": "9"}, []string{"cancel", "claim-cancel"}, "ClaimedOrderCancel"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := steer(t, w, "create", tt.body)
			for _, call := range tt.way {
				status, text := request(t, http.MethodPost, w.URL()+"/sandbox/"+call, map[string]any{"orderId": o.OrderID})
				if status != http.StatusOK {
					t.Fatalf("%s = %d %s", call, status, text)
				}
			}
			made := must.Get(w.Order(t.Context(), o.OrderID))(t)
			if state, err := w.State(t.Context(), made); err != nil || state.String() != tt.ends {
				t.Errorf("state %s, %v, want %s", state, err, tt.ends)
			}
		})
	}
}
