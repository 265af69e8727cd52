package evm_test

import (
	"reflect"
	"testing"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
)

// pastNode is one with an order that was created, delivered and unlocked long ago, and a message of somebody else.
func pastNode(t *testing.T) *node {
	t.Helper()
	n := newNode(50_000)
	terms, id := delivery()
	n.add(t, 10, true, paidLog(7), createdLog(t, terms))
	n.add(t, 12, true, fulfilledLog(t, terms), paidLog(7))
	n.add(t, 12, true, claimedByGate(9))
	n.add(t, 14, true, unlockLog(t, id))
	return n
}

// claimedByGate is the gate's report of some message.
func claimedByGate(b byte) eventLog {
	return eventLog{
		"Claimed(bytes32,bytes32,uint256,address,uint256,uint256,bytes,bool)", testChain.Contracts.Gate, repeat(b, 32),
	}
}

// TestEventsOfLogsAskForCreationsAlone compares with what the receipts of all transactions tell.
func TestEventsOfLogsAskForCreationsAlone(t *testing.T) {
	n := pastNode(t)
	c := n.serve(t, testChain)
	must.Get(c.Head(t.Context()))(t)
	whole, err := c.Events(t.Context(), 1, 100)
	if err != nil || len(whole) != 3 {
		t.Fatalf("Events = %v, %v, want 3", whole, err)
	}
	n.methods = nil
	got := must.Get(c.EventsOfLogs(t.Context(), 1, 100))(t)
	if asked := n.methods["eth_getTransactionReceipt"]; asked != 1 {
		t.Errorf("%d receipts were asked for, want that of the creation", asked)
	}
	for i := range whole {
		if _, creates := whole[i].Fact.(order.Created); !creates {
			whole[i].At.Initiator = chain.Address{}
		}
	}
	if !reflect.DeepEqual(whole, got) {
		t.Errorf("EventsOfLogs = %+v, want %+v", got, whole)
	}
}
