package onchain_test

import (
	"encoding/hex"
	"testing"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/onchain"
)

// FuzzDecode decodes arbitrary data as every event. Decoded terms always hash to the ID that came with them.
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

// FuzzDecodeSwaps decodes arbitrary data as the two events of a swap within a chain. A decoded swap never brings more
// than was swapped for, and pays exactly the reported affiliate and amount.
func FuzzDecodeSwaps(f *testing.F) {
	seed := func(paid, swapped onchain.Log) { f.Add(paid.Data, swapped.Data) }
	seed(shareLog(f, "token out ...........", 5, "affiliate ...........", 3), swapLog(f, 5, 3))
	seed(shareLog(f, "token out ...........", 0, "affiliate ...........", 0), swapLog(f, 0, 0))
	seed(shareLog(f, "another token .......", 5, "affiliate ...........", 3), swapLog(f, 5, 3))
	f.Fuzz(func(t *testing.T, paid, swapped []byte) {
		report := func(topic string, data []byte) onchain.Log {
			return onchain.Log{Address: contracts.Router, Topics: []chain.Hash{parseHash(t, topic)}, Data: data}
		}
		share, swap := report(affiliateFeePaid, paid), report(sameChainSwapExecuted, swapped)
		found, err := onchain.Decode(contracts, []onchain.Log{share, share, swap, swap})
		if err != nil {
			return
		}
		if len(found) != 2 {
			t.Fatalf("%d swaps of two: %+v", len(found), found)
		}
		for i, each := range found {
			s := each.Fact.(order.Swapped)
			out := s.Received().Add(s.Fee)
			if s.Affiliate != nil {
				out = out.Add(s.Affiliate.Amount)
			}
			if out.Cmp(s.AmountOut) != 0 {
				t.Errorf("the parts of swap %d are %s, of %s", i, out, s.AmountOut)
			}
			if i > 0 && s.Affiliate != nil && (!s.Affiliate.Beneficiary.IsAbsent() || s.Affiliate.Amount.IsZero()) {
				t.Errorf("the second swap pays %+v, who was reported before the first", s.Affiliate)
			}
		}
	})
}

// FuzzReaders decodes arbitrary data as answers about storage, as accounts on Solana and as metadata.
func FuzzReaders(f *testing.F) {
	f.Add(encode(f, 1, contracts.Gate, 5, 137, 6, 100, contracts.Gate, 7))
	f.Add(encode(f, 1, contracts.Gate, 8453, 0))
	f.Add([]byte(giveAccount(f, "b90f91d5fcbedf96")))
	for _, text := range []string{metadata65, metadata66, metadata67} {
		f.Add(must.Get(hex.DecodeString(text))(f))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		if give, err := onchain.DecodeGiveOrder(answer); err != nil && give.State != order.None {
			t.Errorf("DecodeGiveOrder = %+v", give)
		}
		if patched, err := onchain.DecodePatches(answer); err == nil && len(answer) == 0 && !patched.IsZero() {
			t.Errorf("DecodePatches = %s of no answer", patched)
		}
		if take, err := onchain.DecodeTakeOrder(answer); err != nil && take.State != order.None {
			t.Errorf("DecodeTakeOrder = %+v", take)
		}
		if isOver, err := onchain.DecodeCallStatus(answer); isOver && (err != nil || len(answer) == 0) {
			t.Errorf("DecodeCallStatus = over, %v, of %x", err, answer)
		}
		if give, err := onchain.DecodeGiveAccount(answer); err != nil && give.State != order.None {
			t.Errorf("DecodeGiveAccount = %+v", give)
		}
		if take, err := onchain.DecodeTakeAccount(answer); err != nil && take.State != order.None {
			t.Errorf("DecodeTakeAccount = %+v", take)
		}
		if call, err := onchain.DecodeCallAccount(answer); err != nil && call != order.NoExtCall {
			t.Errorf("DecodeCallAccount = %s", call)
		}
		if m, isKnown := onchain.ParseMetadata(answer); isKnown && m.Version != 1 {
			t.Errorf("ParseMetadata = version %d", m.Version)
		}
	})
}
