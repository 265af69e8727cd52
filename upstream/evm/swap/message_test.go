package swap

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/order"
	"crossgate/quote"
)

// TestMessageFeeIsThatOfTheChainItGoesTo, or the gate's general one if that chain has none (golden/create, rule 21;
// DeBridgeGate.sol); likewise the charges that takers are paid for. A message that fails is not handed out.
func TestMessageFeeIsThatOfTheChainItGoesTo(t *testing.T) {
	const general = 100
	text := func(raw []byte) string { return "0x" + hex.EncodeToString(raw) }
	for name, row := range map[string]struct {
		own   string
		want  uint64
		fails error
	}{
		"of its own":           {text(words.Encode(700, true, 0)), 700, nil},
		"none of its own":      {text(words.Encode(0, true, 0)), general, nil},
		"an older gate's word": {"!execution reverted", general, nil},
		"refused":              {text(words.Encode(700, true, 0)), 700, quote.ErrReverted},
	} {
		c := documented(t, 8453)
		n := &node{answers: simulated(nil), contract: func(to, data string) string {
			switch {
			case strings.HasPrefix(data, "0xd38d9626") && row.fails != nil: // sendEvmOrderCancel
				return "!execution reverted"
			case to == c.Contracts.DlnDestination.String():
				return text(words.Encode(0, 0, 0))
			case data == text(words.Call("globalTransferFeeBps()")):
				return text(words.Encode(4))
			case data == text(words.Call("globalFixedNativeFee()")):
				return text(words.Encode(general))
			}
			return row.own
		}}
		at := n.serve(t, c)
		terms := order.Terms{Give: order.Offer{Chain: 137}, Maker: somebody, Authorities: order.Authorities{GivePatch: somebody, Order: somebody}}
		tx, err := NewSimulator(at).Cancel(t.Context(), order.ID{1}, terms)
		if !errors.Is(err, row.fails) || tx.Value != chain.NewAmount(row.want) || tx.To != c.Contracts.DlnDestination {
			t.Errorf("%s: %+v, %v, want %d", name, tx, err, row.want)
		}
		charges := NewCharges(at)
		for range 2 {
			if read, err := charges.Read(t.Context(), 137); err != nil || read.Message != chain.NewAmount(row.want) || read.TransferBps != 4 {
				t.Errorf("%s: %+v, %v, want %d", name, read, err, row.want)
			}
		}
	}
}
