package evm_test

import (
	"math/big"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/onchain"
)

// swapChain is testChain with the protocol's router.
func swapChain() chain.Chain {
	c := testChain
	c.Contracts.Router = chain.NewAddress(repeat(0x70, 20))
	return c
}

// affiliateFeePaid is keccak256 of AffiliateFeePaid(address,uint256,address,uint32).
const affiliateFeePaid = "0x6a0f4594999005114d250d0dce53dea802de70666f009552d1aa0b39e5846361"

// swapLogs are the router's events for a swap of amount into half of it, with share going to an affiliate.
func swapLogs(t *testing.T, amount, share int64) []eventLog {
	t.Helper()
	router, out := swapChain().Contracts.Router, [20]byte(repeat(0x0e, 20))
	logs := []eventLog{{
		"SameChainSwapExecuted(address,address,address,uint256,address,uint256,uint256,uint256,uint32)", router,
		encode(t, "address,address,address,uint256,address,uint256,uint256,uint256,uint32", [20]byte(repeat(1, 20)), [20]byte(repeat(2, 20)),
			[20]byte(repeat(0x0d, 20)), big.NewInt(amount), out, big.NewInt(amount/2), big.NewInt(1), big.NewInt(share), uint32(5)),
	}}
	if share > 0 {
		logs = slices.Insert(logs, 0, eventLog{
			"AffiliateFeePaid(address,uint256,address,uint32)", router,
			encode(t, "address,uint256,address,uint32", out, big.NewInt(share), [20]byte(repeat(3, 20)), uint32(5)),
		})
	}
	return logs
}

// compareEvents lets cmp compare the unexported fields of package chain.
var compareEvents = cmp.Options{
	cmp.Comparer(func(a, b chain.Address) bool { return a == b }),
	cmp.Comparer(func(a, b chain.TxHash) bool { return a == b }),
	cmp.Comparer(func(a, b chain.Amount) bool { return a.Cmp(b) == 0 }),
}

// TestSwapsNeedNoReceipts: the list of logs holds all facts about swaps, and the receipts of their transactions add
// nothing.
func TestSwapsNeedNoReceipts(t *testing.T) {
	n := newNode(1000)
	first := n.add(t, 500, true, slices.Concat(swapLogs(t, 1000, 9), swapLogs(t, 1000, 0))...)
	second := n.add(t, 500, true, swapLogs(t, 2000, 7)...)
	c := n.serve(t, swapChain())
	got, err := c.Events(t.Context(), 400, 900)
	if err != nil || len(got) != 3 {
		t.Fatalf("Events() = %+v, %v, want three swaps", got, err)
	}
	if asked := n.methods["eth_getTransactionReceipt"]; asked != 0 {
		t.Errorf("Events() asked for %d receipts", asked)
	}
	var fromReceipts []order.Event
	for _, tx := range []chain.TxHash{first, second} {
		read, err := c.EventsIn(t.Context(), tx)
		events := read.Events
		if err != nil {
			t.Fatal(err)
		}
		fromReceipts = append(fromReceipts, events...)
	}
	if diff := cmp.Diff(fromReceipts, got, compareEvents); diff != "" {
		t.Errorf("swaps by the list of logs (-by receipts +by the list):\n%s", diff)
	}
	for i, want := range []order.ID{
		onchain.SwapID(8453, first, 0), onchain.SwapID(8453, first, 1), onchain.SwapID(8453, second, 0),
	} {
		s, is := got[i].Swap()
		if !is || s.ID != want || !s.At.Initiator.IsAbsent() || s.At.Time != n.blockTime(500) {
			t.Errorf("event %d is %+v, want swap %s", i, got[i], want)
		}
	}
	n.trips()
	proof, err := c.Verify(t.Context(), 400, 900, got)
	if err != nil || len(proof.Wrong) > 0 || !cmp.Equal(proof.Events, got, compareEvents) {
		t.Errorf("Verify() = %+v, %v, want the same swaps", proof, err)
	}
}

func TestReceiptsSettleWhatLogsOfSwapsLack(t *testing.T) {
	terms, id := delivery()
	n := newNode(1000)
	n.add(t, 500, true, append(swapLogs(t, 1000, 9), fulfilledLog(t, terms))...)
	n.add(t, 501, true, swapLogs(t, 1000, 9)...)
	n.logs = slices.DeleteFunc(n.logs, func(l nodeLog) bool { // the list lacks the payee in block 501
		return l.block == 501 && l.topic == affiliateFeePaid
	})
	got, err := n.serve(t, swapChain()).Events(t.Context(), 400, 900)
	if err != nil || len(got) != 3 || got[1].Order != id || got[1].At.Initiator.IsAbsent() {
		t.Fatalf("Events() = %+v, %v, want a swap, a delivery of somebody, and a swap", got, err)
	}
	for _, i := range []int{0, 2} {
		s, _ := got[i].Swap()
		if s.Fact.Affiliate == nil || s.Fact.Affiliate.Beneficiary != chain.NewAddress(repeat(3, 20)) || !s.At.Initiator.IsAbsent() {
			t.Errorf("event %d is %+v, want a swap that paid its affiliate", i, s)
		}
	}
}
