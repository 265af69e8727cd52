package onchain_test

import (
	"bytes"
	"fmt"
	"math/big"
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

// routerVector is a call of the protocol's own router that was executed, with everything that came of it.
type routerVector struct {
	ID    string
	State struct{ FeeTreasury hexBytes }
	Call  struct {
		Args struct {
			AmountIn     string
			ReferralCode uint32
			SwapDetails  struct{ AffiliateFeeEnvelope hexBytes }
		}
	}
	Result         struct{ Status string }
	Logs           []recordedLog
	BalanceChanges []struct {
		Role           string
		Account, Token hexBytes
		Delta          string
	}
}

type routerChain struct {
	ChainID   chain.ID
	Contracts struct {
		Router hexBytes
		Tokens map[string]struct{ Address hexBytes }
	}
	Vectors []routerVector
}

// TestDecodeReadsWhatTheRouterDid holds every executed call of the real router to what its accounts had before and after:
// one swap for each that succeeded, none for those that failed.
func TestDecodeReadsWhatTheRouterDid(t *testing.T) {
	var recorded struct{ Chains []routerChain }
	readShared(t, "golden/router/router-vectors-A.json", &recorded)
	swaps := 0
	for _, c := range recorded.Chains {
		for _, v := range c.Vectors {
			t.Run(v.ID, func(t *testing.T) {
				swapped := c.swapsOf(t, v)
				if want := map[string]int{"success": 1}[v.Result.Status]; len(swapped) != want {
					t.Fatalf("%d swaps, want %d", len(swapped), want)
				}
				for _, s := range swapped {
					swaps++
					c.checkBalances(t, v, s)
				}
			})
		}
	}
	if executed := 150; swaps != executed {
		t.Errorf("%d swaps, want %d", swaps, executed)
	}
}

// swapsOf decodes the router's logs of a vector.
func (c routerChain) swapsOf(t *testing.T, v routerVector) (swaps []order.Swapped) {
	t.Helper()
	var logs []onchain.Log
	for i, l := range v.Logs {
		if len(l.Topics) == 0 {
			continue // of another contract, recorded without its bytes
		}
		log := l.log(t)
		log.Index = uint(i)
		logs = append(logs, log)
	}
	found, err := onchain.Decode(chain.Contracts{Router: chain.NewAddress(c.Contracts.Router)}, logs)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		swapped, is := f.Fact.(order.Swapped)
		if !is || !f.Order.IsAbsent() {
			t.Errorf("found %+v, want swaps without an id", f)
		}
		swaps = append(swaps, swapped)
	}
	return swaps
}

// checkBalances compares what a swap says with what the accounts of its vector gained and lost.
func (c routerChain) checkBalances(t *testing.T, v routerVector, s order.Swapped) {
	t.Helper()
	moved := map[string]*big.Int{}
	add := func(account, token chain.Address, amount *big.Int) {
		key := fmt.Sprint(account, token)
		if moved[key] == nil {
			moved[key] = new(big.Int)
		}
		moved[key].Add(moved[key], amount)
	}
	pay := func(account chain.Address, amount chain.Amount) {
		delivered := amount.Big()
		if s.TokenOut == chain.NewAddress(c.Contracts.Tokens["FOT"].Address) { // keeps a hundredth of every transfer
			delivered.Sub(delivered, new(big.Int).Div(delivered, big.NewInt(100)))
		}
		add(account, s.TokenOut, delivered)
	}
	add(s.Sender, s.TokenIn, new(big.Int).Neg(s.AmountIn.Big()))
	pay(s.Recipient, s.Received())
	pay(chain.NewAddress(v.State.FeeTreasury), s.Fee)
	if s.Affiliate != nil {
		pay(s.Affiliate.Beneficiary, s.Affiliate.Amount)
	}
	seen := map[string]bool{}
	for _, b := range v.BalanceChanges {
		key := fmt.Sprint(chain.NewAddress(b.Account), chain.NewAddress(b.Token))
		want, _ := new(big.Int).SetString(b.Delta, 10)
		got := moved[key]
		if got == nil {
			got = new(big.Int)
		}
		seen[key] = true
		if b.Role != "router" && got.Cmp(want) != 0 {
			t.Errorf("%s of %s: the swap says %s, the balance changed by %s", b.Role, chain.NewAddress(b.Token), got, want)
		}
	}
	for key, amount := range moved {
		if !seen[key] && amount.Sign() != 0 {
			t.Errorf("the swap says that %s changed by %s, which no balance shows", key, amount)
		}
	}
	if s.AmountIn.String() != v.Call.Args.AmountIn || s.ReferralCode != v.Call.Args.ReferralCode {
		t.Errorf("amount in %s, referral %d, want those of the call: %+v", s.AmountIn, s.ReferralCode, v.Call.Args)
	}
	c.checkAffiliate(t, v, s)
}

// checkAffiliate compares the beneficiary with that of the call: 2 bytes of basis points and its address.
func (c routerChain) checkAffiliate(t *testing.T, v routerVector, s order.Swapped) {
	t.Helper()
	const bpsBytes = 2
	var want chain.Address
	if envelope := v.Call.Args.SwapDetails.AffiliateFeeEnvelope; len(envelope) > 0 && [bpsBytes]byte(envelope) != [bpsBytes]byte{} {
		want = chain.NewAddress(envelope[bpsBytes:])
	}
	var got chain.Address
	if s.Affiliate != nil {
		got = s.Affiliate.Beneficiary
	}
	if got != want {
		t.Errorf("affiliate %s, want %s", got, want)
	}
}

// swapLog encodes a SameChainSwapExecuted of 1000 for 900, of which 7 are the router's.
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
	}{
		{"the fee alone", 900, 901, 0},
		{"the share alone", 900, 0, 901},
		{"both together", 900, 7, 894},
		{"both together, past the largest amount", most, most, most},
	}
	for _, test := range tests {
		log := newLog(t, contracts.Router, sameChainSwapExecuted, address("sender .............."), address("recipient ..........."),
			address("token in ............"), 1000, address("token out ..........."), test.out, test.fee, test.share, 3)
		if found, err := onchain.Decode(contracts, []onchain.Log{log}); err == nil {
			t.Errorf("Decode of fees that exceed what the swap brought, %s = %v, want an error", test.name, found)
		}
	}
}

func TestSwapIDNamesTheSwap(t *testing.T) {
	tx, other := chain.NewTxHash(make([]byte, 32)), chain.NewTxHash([]byte("another transaction of 32 bytes."))
	// keccak256 of 32 bytes with 1 at the end, 64 zero bytes.
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
