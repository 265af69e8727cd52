package wire

import (
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/order"
)

func TestAppendOrderIDs(t *testing.T) {
	ids := []order.ID{hash(0x0d), hash(0xff)}
	checkGolden(t, "order_ids", documented.AppendOrderIDs(nil, ids))
	checkGolden(t, "order_id_texts", documented.AppendOrderIDTexts(nil, ids))
	const none = `{"orderIds":[]}`
	if got := string(documented.AppendOrderIDs(nil, nil)); got != none {
		t.Errorf("no ids are %s, want %s", got, none)
	}
	if got := string(documented.AppendOrderIDTexts(nil, nil)); got != none {
		t.Errorf("no id texts are %s, want %s", got, none)
	}
}

func TestAppendStatus(t *testing.T) {
	o := claimedOrder(t)
	checkGolden(t, "order_status", documented.AppendStatus(nil, o))
	o.Fulfilled.Fact.ActualAmount, o.TakeFinal = nil, chain.NewAmount(17)
	if got, want := string(documented.AppendStatus(nil, o)), `"receivedAmount":{"bigIntegerValue":"17"}}}`; !strings.HasSuffix(got, want) {
		t.Errorf("without an amount of its own the fulfilment is %s, want …%s", got, want)
	}
	o.Fulfilled, o.State = nil, order.StateCreated
	if got, want := string(documented.AppendStatus(nil, o)), `{"orderId":"`+o.ID.String()+`","status":"Created"}`; got != want {
		t.Errorf("before a fulfilment it is %s, want %s", got, want)
	}
}
