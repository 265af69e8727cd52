package swap

import (
	"encoding/hex"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/order"
)

// TestMessageFeeIsThatOfTheChainItGoesTo, and the gate's general one where that chain has none of its own (golden/create,
// rule 21; DeBridgeGate.sol).
func TestMessageFeeIsThatOfTheChainItGoesTo(t *testing.T) {
	const general = 100
	text := func(raw []byte) string { return "0x" + hex.EncodeToString(raw) }
	for name, row := range map[string]struct {
		own  string
		want uint64
	}{
		"of its own":           {text(words.Encode(700, true, 0)), 700},
		"none of its own":      {text(words.Encode(0, true, 0)), general},
		"an older gate's word": {"!execution reverted", general},
	} {
		c := documented(t, 8453)
		n := &node{
			answers: map[string]string{
				"eth_getBlockByNumber": `"result":{"timestamp":"0x1","miner":"0x0000000000000000000000000000000000000000","baseFeePerGas":"0x1"}`,
				"eth_gasPrice":         `"result":"0x1"`, "eth_getBalance": `"result":"0xffffffffffffffff"`,
			},
			contract: func(to, data string) string {
				switch {
				case strings.EqualFold(to, c.Contracts.DlnDestination.String()):
					return text(words.Encode(0, 0, 0))
				case data == text(words.Call("globalFixedNativeFee()")):
					return text(words.Encode(general))
				}
				return row.own
			},
		}
		terms := order.Terms{Give: order.Offer{Chain: 137}, Maker: somebody, Authorities: order.Authorities{GivePatch: somebody, Order: somebody}}
		tx, err := NewSimulator(n.serve(t, c)).Cancel(t.Context(), order.ID{1}, terms)
		if err != nil || tx.Value != chain.NewAmount(row.want) {
			t.Errorf("%s: %s, %v, want %d", name, tx.Value, err, row.want)
		}
	}
}
