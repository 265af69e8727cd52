package evm_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"crossgate/chain"
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
	if _, err := c.Head(t.Context()); err != nil {
		t.Fatal(err)
	}
	whole, err := c.Events(t.Context(), 1, 100)
	if err != nil || len(whole) != 3 {
		t.Fatalf("Events = %v, %v, want 3", whole, err)
	}
	n.methods = nil
	got, err := c.EventsOfLogs(t.Context(), 1, 100)
	if err != nil {
		t.Fatal(err)
	}
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

// TestReceiptsOfACrowdedBlockComeTogether asks for many creations of one block, of nodes with the method and without.
func TestReceiptsOfACrowdedBlockComeTogether(t *testing.T) {
	for name, has := range map[string]bool{"by block": true, "one by one": false} {
		t.Run(name, func(t *testing.T) {
			n := newNode(50_000)
			terms, _ := delivery()
			for nonce := range uint64(5) {
				terms.Nonce = nonce
				n.add(t, 10, true, createdLog(t, terms))
			}
			if has {
				var all []string
				for _, raw := range n.receipts {
					all = append(all, string(raw))
				}
				n.answers["eth_getBlockReceipts"] = `"result":[` + strings.Join(all, ",") + `]`
			}
			c := n.serve(t, testChain)
			if _, err := c.Head(t.Context()); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				events, err := c.EventsOfLogs(t.Context(), 1, 100)
				if err != nil || len(events) != 5 || events[4].At.Initiator.IsAbsent() {
					t.Fatalf("EventsOfLogs = %v, %v, want 5 creations", events, err)
				}
			}
			want := map[string]int{"eth_getBlockReceipts": 2, "eth_getTransactionReceipt": 0}
			if !has { // which is found out once
				want = map[string]int{"eth_getBlockReceipts": 1, "eth_getTransactionReceipt": 10}
			}
			for method, count := range want {
				if n.methods[method] != count {
					t.Errorf("%d calls of %s, want %d", n.methods[method], method, count)
				}
			}
		})
	}
}

// TestReceiptsOfABlockMustHoldWhatWasListed has a node whose receipts lack a transaction: each is asked for by itself.
func TestReceiptsOfABlockMustHoldWhatWasListed(t *testing.T) {
	n := newNode(50_000)
	terms, _ := delivery()
	var kept []json.RawMessage
	for nonce := range uint64(4) {
		terms.Nonce = nonce
		hash := n.add(t, 10, true, createdLog(t, terms))
		if nonce > 0 {
			kept = append(kept, n.receipts[hash.String()])
		}
	}
	raw, err := json.Marshal(kept)
	if err != nil {
		t.Fatal(err)
	}
	n.answers["eth_getBlockReceipts"] = `"result":` + string(raw)
	c := n.serve(t, testChain)
	if _, err := c.Head(t.Context()); err != nil {
		t.Fatal(err)
	}
	events, err := c.EventsOfLogs(t.Context(), 1, 100)
	if err != nil || len(events) != 4 || n.methods["eth_getTransactionReceipt"] != 4 {
		t.Errorf("EventsOfLogs = %v, %v, with %v; want 4 creations from 4 receipts", events, err, n.methods)
	}
}
