package wire

import (
	"strings"
	"testing"

	"crossgate/order"
)

// TestAppendList has an order with everything, one with as little as possible, swaps, both, and nothing.
func TestAppendList(t *testing.T) {
	paid := &order.Affiliate{Beneficiary: account(0xaf), Amount: amount(t, "1000000")}
	with, without := madeSwap(t, paid), madeSwap(t, nil)
	orders := []Listed{
		{Order: &Record{Order: claimedOrder(t), Give: usdc, Take: usdc, PreswapIn: usdc}},
		{Order: &Record{Order: fold(t, plainOrder(t)), Give: usdc, Take: usdc}},
	}
	swaps := []Listed{{Swap: &with}, {Swap: &without}}
	ofOrders, ofSwaps := documented.AppendList(nil, orders, 1234), documented.AppendList(nil, swaps, 77)
	checkGolden(t, "order_list", ofOrders)
	checkGolden(t, "order_list_swaps", ofSwaps)
	items := func(list []byte, total string) string {
		return strings.TrimSuffix(strings.TrimPrefix(string(list), `{"orders":[`), `],"totalCount":`+total+`}`)
	}
	both := documented.AppendList(nil, append(swaps, orders...), 2)
	if got, want := items(both, "2"), items(ofSwaps, "77")+","+items(ofOrders, "1234"); got != want {
		t.Errorf("swaps and orders are %s, want %s", got, want)
	}
	const none = `{"orders":[],"totalCount":0}`
	if got := string(documented.AppendList(nil, nil, 0)); got != none {
		t.Errorf("no orders are %s, want %s", got, none)
	}
}

func TestAppendUnlockList(t *testing.T) {
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
