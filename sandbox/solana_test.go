package sandbox

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/internal/recorded"
	"crossgate/sandbox/contracts"
)

// TestMessagesToSolanaAreTheProtocols proves that the message of an EVM chain about an order from Solana is, byte for
// byte, the one that the protocol's own tests expect, except for what depends on the order.
func TestMessagesToSolanaAreTheProtocols(t *testing.T) {
	var vector struct {
		Inputs struct {
			TakeChainID       string `json:"takeChainId"`
			SrcProgramID      string `json:"srcProgramId"`
			ActionBeneficiary string `json:"actionBeneficiary"`
			GiveToken         string `json:"orderGiveTokenAddress"`
			OrderID           string `json:"orderId"`
		}
		ExpectedClaim, ExpectedCancel string
	}
	recorded.JSON(t, "facts/dln/vectors/solana_claim_message.json", &vector)
	w := untouched
	orders := must.Get(w.Orders(t.Context()))(t)
	compared := 0
	for _, o := range orders {
		m, err := w.message(t.Context(), o)
		if o.GiveChain() != chain.Solana || err != nil || len(m.inbound.Orders) != 1 {
			continue
		}
		template := vector.ExpectedClaim
		if m.inbound.Cancel {
			template = vector.ExpectedCancel
		}
		want := strings.NewReplacer(
			vector.Inputs.TakeChainID[2:], hex.EncodeToString(common.BigToHash(o.terms.TakeChain).Bytes()),
			vector.Inputs.SrcProgramID[2:], hex.EncodeToString(w.solana.Facts.Contracts.DlnSource.Bytes()),
			vector.Inputs.ActionBeneficiary[2:], hex.EncodeToString(m.inbound.Beneficiary[:]),
			vector.Inputs.GiveToken[2:], hex.EncodeToString(o.terms.GiveToken),
			vector.Inputs.OrderID[2:], hex.EncodeToString(o.ID.Bytes()),
			"feffffffffffffff", hex.EncodeToString(binary.LittleEndian.AppendUint64(nil, initWalletReward)),
			"fdffffffffffffff", hex.EncodeToString(binary.LittleEndian.AppendUint64(nil, claimReward)),
		).Replace(template[2:])
		if got := hex.EncodeToString(w.dataSent(t, o, m)); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", o.Title, got, want)
		}
		compared++
	}
	if compared < 4 {
		t.Errorf("%d messages compared, want several", compared)
	}
}

// dataSent returns the call in the message about an order.
func (w *World) dataSent(t *testing.T, o Order, m message) []byte {
	t.Helper()
	c, _ := w.Chain(o.TakeChain())
	logs := must.Get(c.logs(t.Context(), c.gate(), contracts.DeBridgeGate.Topic("Sent")))(t)
	for _, log := range logs {
		values := must.Get(contracts.DeBridgeGate.ABI.Unpack("Sent", log.Data))(t)
		if values[0].([32]byte) != m.inbound.Submission {
			continue
		}
		params := must.Get(sentParams.Unpack(values[6].([]byte)))(t)
		encoded := must.Get(json.Marshal(params[0]))(t)
		var sent struct{ Data []byte }
		must.Do(t, json.Unmarshal(encoded, &sent))
		return sent.Data
	}
	t.Fatalf("%s: no message %x was sent", o.Title, m.inbound.Submission)
	return nil
}

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
