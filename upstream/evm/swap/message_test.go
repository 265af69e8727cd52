package swap

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/order"
	"crossgate/order/creation"
	"crossgate/order/onchain"
	"crossgate/quote"
)

// TestMessageFeeIsThatOfTheChainItGoesTo, or the gate's general one if that chain has none (golden/create, rule 21;
// DeBridgeGate.sol); for Solana DlnDestination itself wants the general one at least (_validateSolanaRewards). Likewise
// the charges that takers are paid for. A message that fails is not handed out.
func TestMessageFeeIsThatOfTheChainItGoesTo(t *testing.T) {
	const general = 100
	text := func(raw []byte) string { return "0x" + hex.EncodeToString(raw) }
	for name, row := range map[string]struct {
		own   string
		want  uint64
		fails error
		to    chain.ID
	}{
		"of its own":              {text(words.Encode(700, true, 0)), 700, nil, 137},
		"a smaller one":           {text(words.Encode(70, true, 0)), 70, nil, 137},
		"a smaller one to Solana": {text(words.Encode(70, true, 0)), general, nil, chain.Solana},
		"a larger one to Solana":  {text(words.Encode(700, true, 0)), 700, nil, chain.Solana},
		"none of its own":         {text(words.Encode(0, true, 0)), general, nil, 137},
		"an older gate's word":    {"!execution reverted", general, nil, 137},
		"refused":                 {text(words.Encode(700, true, 0)), 700, quote.ErrReverted, 137},
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
		terms := order.Terms{Give: order.Offer{Chain: row.to}, Maker: somebody, Authorities: order.Authorities{GivePatch: somebody, Order: somebody}}
		tx, err := NewSimulator(at).Cancel(t.Context(), order.ID{1}, terms)
		if !errors.Is(err, row.fails) || tx.Value != chain.NewAmount(row.want) || tx.To != c.Contracts.DlnDestination {
			t.Errorf("%s: %+v, %v, want %d", name, tx, err, row.want)
		}
		greedy := &node{answers: n.answers, contract: func(to, data string) string {
			if to == c.Contracts.Gate.String() {
				return text(words.Encode(1<<40, true, 0))
			}
			return n.contract(to, data)
		}}
		for _, nodes := range [][]*node{{greedy, n}, {n, greedy}} { // an older gate is not told from a failure
			tx, err := NewSimulator(serveAll(t, c, nodes...)).Cancel(t.Context(), order.ID{1}, terms)
			if want := chain.NewAmount(row.want); !errors.Is(err, row.fails) || tx.Value != want && !strings.HasPrefix(row.own, "!") {
				t.Errorf("%s, and one node wants more: %s, %v, want %s", name, tx.Value, err, want)
			}
		}
		charges := NewSimulator(at)
		for range 2 {
			if read, err := charges.Charges(t.Context(), row.to); err != nil || read.Message != chain.NewAmount(row.want) || read.TransferBps != 4 {
				t.Errorf("%s: %+v, %v, want %d", name, read, err, row.want)
			}
		}
	}
}

// TestChargesOfAllOrNothingAreNone: a contract that charges the whole input, or answers in another format.
func TestChargesOfAllOrNothingAreNone(t *testing.T) {
	for bps, isRead := range map[string]bool{fmt.Sprintf("0x%064x", 9_999): true, fmt.Sprintf("0x%064x", 10_000): false, "0x": false, "0x01": false} {
		n := &node{contract: func(_, data string) string {
			if data == fmt.Sprintf("0x%x", words.Call("globalTransferFeeBps()")) {
				return bps
			}
			return nothingWord
		}}
		if read, err := NewSimulator(n.serve(t, documented(t, 8453))).Charges(t.Context(), 137); (err == nil) != isRead {
			t.Errorf("charges of %s: %+v, %v", bps, read, err)
		}
	}
}

// TestACallIsCancelledOfTheAmountThatWaits for it, in the state that the adapter reports for each.
func TestACallIsCancelledOfTheAmountThatWaits(t *testing.T) {
	c := documented(t, 8453)
	terms := order.Terms{Give: order.Offer{Chain: 137}, Authorities: order.Authorities{Order: somebody}, ExternalCall: []byte{1}}
	amounts := []chain.Amount{chain.NewAmount(9), chain.NewAmount(8)}
	status := func(n int) string { return fmt.Sprintf("0x%064x", n) }
	for name, row := range map[string]struct {
		first, second, cancelled string
		amount                   int // index
		want                     error
	}{
		"the first":     {status(1), status(1), "0x", 0, nil},
		"the second":    {status(0), status(1), "0x", 1, nil},
		"none":          {status(0), status(3), "0x", 0, creation.ErrCallNotOpen},
		"executed":      {status(0), status(2), "0x", 0, creation.ErrCallExecuted},
		"not cancelled": {status(1), status(0), "!execution reverted", 0, quote.ErrReverted},
	} {
		of := func(i int) creation.RegisteredCall {
			return creation.RegisteredCall{Order: order.ID{1}, Terms: terms, Amount: amounts[i]}
		}
		n := &node{answers: simulated(nil), contract: func(_, data string) string {
			switch data {
			case fmt.Sprintf("0x%x", of(0).Status()):
				return row.first
			case fmt.Sprintf("0x%x", of(1).Status()):
				return row.second
			}
			return row.cancelled
		}}
		tx, err := NewSimulator(n.serve(t, c)).CancelCall(t.Context(), order.ID{1}, terms, amounts...)
		if !errors.Is(err, row.want) || err == nil && (string(tx.Data) != string(of(row.amount).CancelData()) || tx.To != c.Contracts.ExternalCallAdapter || tx.Sender != somebody) {
			t.Errorf("%s: %+v, %v, want %v", name, tx, err, row.want)
		}
	}
}

// TestUnlocksAreOfDeliveredOrders: all of them must wait for it on the take chain.
func TestUnlocksAreOfDeliveredOrders(t *testing.T) {
	c := documented(t, 8453)
	for states, want := range map[[2]int]error{{1, 1}: nil, {1, 2}: creation.ErrNotOwed, {0, 1}: creation.ErrNotOwed} { // 1: fulfilled
		u := creation.Unlock{IDs: []order.ID{{1}, {2}}, Terms: make([]order.Terms, 2), Authority: somebody, Beneficiary: thief}
		n := &node{answers: simulated(nil), contract: func(_, data string) string {
			for i, id := range u.IDs {
				if data == fmt.Sprintf("0x%x", onchain.TakeOrderCall(id)) {
					return fmt.Sprintf("0x%x", words.Encode(states[i], 0, 0))
				}
			}
			return nothingWord
		}}
		refusing := &node{answers: n.answers, reverts: fmt.Sprintf("0x%x", u.Data()[:selectorLength]), contract: n.contract}
		for _, nodes := range [][]*node{{n}, {refusing, n}, {n, refusing}} {
			tx, err := NewSimulator(serveAll(t, c, nodes...)).Unlock(t.Context(), u)
			if !errors.Is(err, want) || err == nil && (tx.Sender != somebody || tx.To != c.Contracts.DlnDestination) {
				t.Errorf("unlock of orders with states %v by %d nodes: %+v, %v, want %v", states, len(nodes), tx, err, want)
			}
		}
	}
}
