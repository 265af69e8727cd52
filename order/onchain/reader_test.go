package onchain_test

import (
	"encoding/hex"
	"testing"

	"github.com/google/go-cmp/cmp"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/onchain"
)

func TestCallsCarryTheOrderID(t *testing.T) {
	id := hash("order")
	for selector, call := range map[string][]byte{
		"b2a453f8": onchain.GiveOrderCall(id),
		"5b2f30e9": onchain.TakeOrderCall(id),
	} {
		if got, want := hex.EncodeToString(call), selector+hex.EncodeToString(id[:]); got != want {
			t.Errorf("calldata %s, want %s", got, want)
		}
	}
}

func TestDecodeGiveOrder(t *testing.T) {
	token, beneficiary := address("token ..............."), address("beneficiary .........")
	nothing := chain.NewAddress(make([]byte, 20))
	tests := []struct {
		name   string
		answer []byte
		want   onchain.GiveOrder
	}{
		{
			"unknown order", make([]byte, 8*32),
			onchain.GiveOrder{Token: nothing},
		},
		{
			"created with affiliate", encode(t, 1, token, 5, 137, 6, 100, beneficiary, 7),
			onchain.GiveOrder{
				Status: onchain.GiveCreated, Token: token, FixFee: chain.NewAmount(5), TakeChain: 137,
				PercentFee: chain.NewAmount(6), Amount: chain.NewAmount(100),
				Affiliate: &order.Affiliate{Beneficiary: beneficiary, Amount: chain.NewAmount(7)},
			},
		},
	}
	for _, test := range tests {
		got, err := onchain.DecodeGiveOrder(test.answer)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if diff := cmp.Diff(test.want, got, compareValues(), compareTexts()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
	for name, answer := range map[string][]byte{
		"empty":          nil,
		"short":          make([]byte, 7*32),
		"unknown status": encode(t, 4, token, 5, 137, 6, 100, beneficiary, 7),
	} {
		if got, err := onchain.DecodeGiveOrder(answer); err == nil {
			t.Errorf("%s: DecodeGiveOrder = %v, want an error", name, got)
		}
	}
}

func TestDecodeTakeOrder(t *testing.T) {
	taker := address("taker ...............")
	tests := []struct {
		name   string
		answer []byte
		want   onchain.TakeOrder
	}{
		{"unknown order", make([]byte, 4*32), onchain.TakeOrder{}},
		{"unknown order, oldest contracts", make([]byte, 3*32), onchain.TakeOrder{}},
		{
			"small give chain id", encode(t, 1, taker, 8453, 0),
			onchain.TakeOrder{Status: onchain.TakeFulfilled, Taker: taker, GiveChain: 8453},
		},
		{
			"large give chain id", encode(t, 2, taker, 0, 1<<40),
			onchain.TakeOrder{Status: onchain.TakeSentUnlock, Taker: taker, GiveChain: 1 << 40},
		},
		{
			"oldest contracts", encode(t, 1, taker, 56),
			onchain.TakeOrder{Status: onchain.TakeFulfilled, Taker: taker, GiveChain: 56},
		},
		{"cancelled", encode(t, 3, chain.NewAddress(make([]byte, 20)), 0, 0), onchain.TakeOrder{Status: onchain.TakeSentCancel}},
	}
	for _, test := range tests {
		if got, err := onchain.DecodeTakeOrder(test.answer); err != nil || got != test.want {
			t.Errorf("%s: DecodeTakeOrder = %v, %v, want %v", test.name, got, err, test.want)
		}
	}
	for _, answer := range [][]byte{nil, make([]byte, 2*32), encode(t, 9, taker, 1, 0)} {
		if got, err := onchain.DecodeTakeOrder(answer); err == nil {
			t.Errorf("DecodeTakeOrder(%x) = %v, want an error", answer, got)
		}
	}
}

func TestDecodePatches(t *testing.T) {
	for name, test := range map[string]struct {
		answer []byte
		want   uint64
	}{
		"patched": {encode(t, 77), 77}, "never patched": {encode(t, 0), 0}, "no contract": {nil, 0},
	} {
		if got, err := onchain.DecodePatches(test.answer); err != nil || got != chain.NewAmount(test.want) {
			t.Errorf("%s: DecodePatches = %s, %v, want %d", name, got, err, test.want)
		}
	}
	if got, err := onchain.DecodePatches(make([]byte, 31)); err == nil {
		t.Errorf("DecodePatches of half a word = %s, want an error", got)
	}
}
