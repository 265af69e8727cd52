package onchain_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/onchain"
)

const (
	sameChainSwapExecuted = "0xecfedc7a2bb58de8119427cef1d856aa76747d4a6e13307a7ca485bf8df20904"
	affiliateFeePaid      = "0x6a0f4594999005114d250d0dce53dea802de70666f009552d1aa0b39e5846361"
)

// swapLog encodes a SameChainSwapExecuted of 1000 for 900, 7 of which are the router's.
func swapLog(t testing.TB, affiliateFee, referral int) onchain.Log {
	t.Helper()
	return newLog(t, contracts.Router, sameChainSwapExecuted, address("sender .............."), address("recipient ..........."),
		address("token in ............"), 1000, address("token out ..........."), 900, 7, affiliateFee, referral)
}

func shareLog(t testing.TB, token string, amount int, to string, referral int) onchain.Log {
	t.Helper()
	return newLog(t, contracts.Router, affiliateFeePaid, address(token), amount, address(to), referral)
}

func TestDecodePairsSwapsWithTheirAffiliates(t *testing.T) {
	const out, first, second = "token out ...........", "first affiliate .....", "second affiliate ...."
	paid := func(to string, amount uint64) *order.Affiliate {
		return &order.Affiliate{Beneficiary: address(to), Amount: chain.NewAmount(amount)}
	}
	tests := []struct {
		name string
		logs []onchain.Log
		want []*order.Affiliate
	}{
		{"none", []onchain.Log{swapLog(t, 0, 3)}, []*order.Affiliate{nil}},
		{"one", []onchain.Log{shareLog(t, out, 5, first, 3), swapLog(t, 5, 3)}, []*order.Affiliate{paid(first, 5)}},
		{"of nothing", []onchain.Log{shareLog(t, out, 0, first, 3), swapLog(t, 0, 3)}, []*order.Affiliate{paid(first, 0)}},
		{
			"each its own",
			[]onchain.Log{
				shareLog(t, out, 5, first, 3), swapLog(t, 5, 3), shareLog(t, out, 5, second, 3), swapLog(t, 5, 3), swapLog(t, 0, 3),
			},
			[]*order.Affiliate{paid(first, 5), paid(second, 5), nil},
		},
		{
			"the newest that agrees",
			[]onchain.Log{
				shareLog(t, out, 5, first, 3), shareLog(t, out, 5, second, 3), shareLog(t, out, 6, first, 3),
				shareLog(t, "another token .......", 5, first, 3), shareLog(t, out, 5, first, 4), swapLog(t, 5, 3),
			},
			[]*order.Affiliate{paid(second, 5)},
		},
		{
			"of a code that is none",
			[]onchain.Log{shareLog(t, out, 5, first, 1<<32+3), swapLog(t, 5, 3)},
			[]*order.Affiliate{{Amount: chain.NewAmount(5)}},
		},
		{"not reported", []onchain.Log{swapLog(t, 5, 3)}, []*order.Affiliate{{Amount: chain.NewAmount(5)}}},
	}
	for _, test := range tests {
		found, err := onchain.Decode(contracts, test.logs)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		var got []*order.Affiliate
		for _, f := range found {
			got = append(got, f.Fact.(order.Swapped).Affiliate)
		}
		if diff := cmp.Diff(test.want, got, compareValues(), compareTexts()); diff != "" {
			t.Errorf("%s: affiliates (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestDecodeRefusesSwapsThatCannotBe(t *testing.T) {
	whole := swapLog(t, 5, 3)
	for length := range len(whole.Data) {
		log := whole
		log.Data = whole.Data[:length]
		if found, err := onchain.Decode(contracts, []onchain.Log{log}); err == nil {
			t.Fatalf("Decode of %d of %d bytes = %v, want an error", length, len(whole.Data), found)
		}
	}
	most := chain.Hash(bytes.Repeat([]byte{0xff}, 32))
	tests := []struct {
		name            string
		out, fee, share any
		referral        int
	}{
		{"a fee above what it brought", 900, 901, 0, 3},
		{"a share above that", 900, 0, 901, 3},
		{"both together above that", 900, 7, 894, 3},
		{"both together past the largest amount", most, most, most, 3},
		{"a referral code of 33 bits", 900, 7, 0, 1 << 32},
	}
	for _, test := range tests {
		log := newLog(t, contracts.Router, sameChainSwapExecuted, address("sender .............."), address("recipient ..........."),
			address("token in ............"), 1000, address("token out ..........."), test.out, test.fee, test.share, test.referral)
		if found, err := onchain.Decode(contracts, []onchain.Log{log}); err == nil {
			t.Errorf("Decode of a swap with %s = %v, want an error", test.name, found)
		}
	}
}

func TestSwapIDNamesTheSwap(t *testing.T) {
	tx, other := chain.NewTxHash(make([]byte, 32)), chain.NewTxHash([]byte("another transaction of 32 bytes."))
	// keccak256 of 32 bytes that end with 1, followed by 64 zero bytes.
	const want = "0x255ace0592d6d0057743ec81f2494d71fe5466986a2fd6f28c632dc1ef83d48b"
	ids := map[order.ID]bool{}
	for _, id := range []chain.ID{1, 137} {
		for _, hash := range []chain.TxHash{tx, other} {
			for index := range 3 {
				ids[onchain.SwapID(id, hash, index)] = true
			}
		}
	}
	if got := onchain.SwapID(1, tx, 0).String(); len(ids) != 12 || got != want {
		t.Errorf("%d ids of 12 swaps; that of the first is %s, want %s", len(ids), got, want)
	}
}
