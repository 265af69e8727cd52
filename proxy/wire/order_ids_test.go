package wire

import (
	"testing"

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
	checkGolden(t, "order_status", documented.AppendStatus(nil, claimedOrder(t)))
}
