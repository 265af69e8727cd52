package wire

import (
	"strings"
	"testing"

	"crossgate/order"
)

// TestAppendLists has an order with everything, and one with as little as possible.
func TestAppendLists(t *testing.T) {
	records := []Listed{
		{Order: &Record{Order: claimedOrder(t), Give: usdc, Take: usdc, PreswapIn: usdc}},
		{Order: &Record{Order: fold(t, plainOrder(t)), Give: usdc, Take: usdc}},
	}
	checkGolden(t, "order_list", documented.AppendOrderList(nil, records, 1234))
	const none = `{"orders":[],"totalCount":0}`
	if got := string(documented.AppendOrderList(nil, nil, 0)); got != none {
		t.Errorf("no orders are %s, want %s", got, none)
	}
	paid := &order.Affiliate{Beneficiary: account(0xaf), Amount: amount(t, "1000000")}
	first, second := madeSwap(t, paid), madeSwap(t, nil)
	checkGolden(t, "order_list_swaps", documented.AppendOrderList(nil, []Listed{{Swap: &first}, {Swap: &second}}, 77))
	checkGolden(t, "unlock_list", documented.AppendUnlockList(nil, []*order.Order{claimedOrder(t)}, 1))
}

func TestAppendTerms(t *testing.T) {
	checkGolden(t, "order_terms", documented.AppendTerms(nil, claimedOrder(t)))
	checkGolden(t, "order_terms_plain", documented.AppendTerms(nil, fold(t, plainOrder(t))))
	checkGolden(t, "order_lite", documented.AppendLite(nil, claimedOrder(t)))
	checkGolden(t, "order_lite_plain", documented.AppendLite(nil, fold(t, plainOrder(t))))
	checkGolden(t, "order_lite_models", documented.AppendLiteModels(nil, []*order.Order{claimedOrder(t), fold(t, plainOrder(t))}))
	if got := string(documented.AppendState(nil, claimedOrder(t))); got != `"ClaimedUnlock"` {
		t.Errorf("state is %s", got)
	}
}

// TestAppendTermsKnowsSevenStatesOfACall has the call of a cancelled order told by a name that the swap API documents:
// readers that were generated from its document refuse any other.
func TestAppendTermsKnowsSevenStatesOfACall(t *testing.T) {
	event := plainOrder(t)
	created := event.Fact.(order.Created)
	created.Terms.ExternalCall = []byte{0xca, 0x11}
	event.Fact = created
	cancelled := fold(t, event, order.Event{Order: event.Order, At: on(polygon, evmTx(0xe1), 71_000_009, 1_784_950_000), Fact: order.Sent{
		Kind: order.Cancel, Beneficiary: account(0xa1), Submission: hash(0x5c),
	}})
	for form, want := range map[string]string{
		string(documented.AppendTerms(nil, cancelled)): `"externalCallState":"Cancelled"`,
		string(documented.AppendLite(nil, cancelled)):  `"externalCallState":"OrderCancelled"`,
	} {
		if !strings.Contains(form, want) {
			t.Errorf("%s has no %s", form, want)
		}
	}
}
