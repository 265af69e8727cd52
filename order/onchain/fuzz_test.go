package onchain_test

import (
	"testing"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/onchain"
)

// FuzzDecode feeds any data to every event. Terms that come out always give the id they came with.
func FuzzDecode(f *testing.F) {
	o := recordedOrders(f)[4]
	seeds := []onchain.Log{
		newLog(f, contracts.DlnSource, createdOrder, tupleOf(o.Terms), o.ID, make([]byte, 52), 1, 2, 3, []byte("metadata")),
		newLog(f, contracts.DlnSource, createdOrderLegacy, tupleOf(o.Terms), o.ID, []byte{}, 1, 2, 3),
		newLog(f, contracts.DlnSource, claimedUnlock, o.ID, contracts.Gate, 1, contracts.Gate),
		newLog(f, contracts.DlnDestination, fulfilledOrder, tupleOf(o.Terms), o.ID, 1, contracts.Gate, contracts.Gate),
		newLog(f, contracts.DlnDestination, sentOrderUnlock, o.ID, []byte("beneficiary"), hash("message")),
		newLog(f, contracts.DlnDestination, sentOrderCancel, tupleOf(o.Terms), o.ID, []byte("beneficiary"), hash("message")),
		newLog(f, contracts.ExternalCallAdapter, externalCallExecuted, o.ID, true),
		newLog(f, contracts.Router, swapExecuted, contracts.Gate, contracts.Gate, 1, contracts.Gate, 2),
		swapLog(f, 5, 3),
	}
	for _, log := range seeds {
		f.Add(log.Data)
	}
	topics := append(onchain.Topics(), parseHash(f, swapExecuted))
	emitters := []chain.Address{
		contracts.DlnSource, contracts.DlnDestination, contracts.Gate, contracts.ExternalCallAdapter, contracts.Router,
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, topic := range topics {
			for _, emitter := range emitters {
				log := onchain.Log{Address: emitter, Topics: []chain.Hash{topic}, Data: data}
				found, err := onchain.Decode(contracts, []onchain.Log{log, log})
				if err != nil {
					continue
				}
				checkIDs(t, found)
			}
		}
	})
}

func checkIDs(t *testing.T, found []onchain.Found) {
	t.Helper()
	for _, f := range found {
		var terms order.Terms
		switch fact := f.Fact.(type) {
		case order.Created:
			terms = fact.Terms
		case order.Fulfilled:
			terms = fact.Terms
		default:
			continue
		}
		if id := onchain.ID(terms); id != f.Order {
			t.Errorf("%T of order %s has terms of order %s", f.Fact, f.Order, id)
		}
	}
}

// FuzzReaders feeds any data to the decoders of storage answers.
func FuzzReaders(f *testing.F) {
	f.Add(encode(f, 1, contracts.Gate, 5, 137, 6, 100, contracts.Gate, 7))
	f.Add(encode(f, 1, contracts.Gate, 8453, 0))
	f.Fuzz(func(t *testing.T, answer []byte) {
		if give, err := onchain.DecodeGiveOrder(answer); err == nil && give.Status > onchain.GiveClaimedCancel {
			t.Errorf("DecodeGiveOrder = %+v", give)
		}
		if patched, err := onchain.DecodePatches(answer); err == nil && len(answer) == 0 && !patched.IsZero() {
			t.Errorf("DecodePatches = %s of no answer", patched)
		}
		if take, err := onchain.DecodeTakeOrder(answer); err == nil && take.Status > onchain.TakeSentCancel {
			t.Errorf("DecodeTakeOrder = %+v", take)
		}
		if isOver, err := onchain.DecodeCallStatus(answer); isOver && (err != nil || len(answer) == 0) {
			t.Errorf("DecodeCallStatus = over, %v, of %x", err, answer)
		}
	})
}
