package onchain_test

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/onchain"
)

func TestCallsCarryTheOrderID(t *testing.T) {
	id := hash("order")
	for selector, call := range map[string][]byte{
		"b2a453f8": onchain.GiveOrderCall(id),
		"5b2f30e9": onchain.TakeOrderCall(id),
	} {
		if got, want := hex.EncodeToString(call), selector+hex.EncodeToString(id[:]); got != want {
			t.Errorf("calldata %s, want %s", got, want)
		}
	}
}

func TestDecodeGiveOrder(t *testing.T) {
	token, beneficiary := address("token ..............."), address("beneficiary .........")
	for status, want := range []order.State{order.None, order.StateCreated, order.StateClaimedUnlock, order.StateClaimedOrderCancel} {
		got, err := onchain.DecodeGiveOrder(encode(t, status, token, 5, 137, 6, 100, beneficiary, 7))
		if err != nil || got != (order.StoredState{State: want, Amount: chain.NewAmount(100)}) {
			t.Errorf("DecodeGiveOrder of status %d = %+v, %v, want %s of 100", status, got, err, want)
		}
	}
	for name, answer := range map[string][]byte{
		"empty":          nil,
		"short":          make([]byte, 7*32),
		"unknown status": encode(t, 4, token, 5, 137, 6, 100, beneficiary, 7),
		"large status":   encode(t, 257, token, 5, 137, 6, 100, beneficiary, 7),
	} {
		if got, err := onchain.DecodeGiveOrder(answer); err == nil {
			t.Errorf("%s: DecodeGiveOrder = %v, want an error", name, got)
		}
	}
}

func TestDecodeTakeOrder(t *testing.T) {
	taker := address("taker ...............")
	for status, want := range []order.State{order.None, order.StateFulfilled, order.StateSentUnlock, order.StateSentOrderCancel} {
		for _, answer := range [][]byte{encode(t, status, taker, 8453, 0), encode(t, status, taker, 56)} { // second: oldest contracts
			if got, err := onchain.DecodeTakeOrder(answer); err != nil || got.State != want {
				t.Errorf("DecodeTakeOrder(%x) = %s, %v, want %s", answer, got.State, err, want)
			}
		}
	}
	for _, answer := range [][]byte{nil, make([]byte, 2*32), encode(t, 9, taker, 1, 0), encode(t, 257, taker, 1, 0)} {
		if got, err := onchain.DecodeTakeOrder(answer); err == nil {
			t.Errorf("DecodeTakeOrder(%x) = %v, want an error", answer, got)
		}
	}
}

func TestDecodeCallStatus(t *testing.T) {
	for status, want := range []bool{false, false, true, true} {
		if isOver, err := onchain.DecodeCallStatus(encode(t, status)); err != nil || isOver != want {
			t.Errorf("DecodeCallStatus of %d = %v, %v, want %v", status, isOver, err, want)
		}
	}
	if isOver, err := onchain.DecodeCallStatus(encode(t, 4)); err == nil {
		t.Errorf("DecodeCallStatus of an unknown one = %v, want an error", isOver)
	}
}

func TestDecodePatches(t *testing.T) {
	for name, test := range map[string]struct {
		answer []byte
		want   uint64
	}{
		"patched": {encode(t, 77), 77}, "never patched": {encode(t, 0), 0}, "no contract": {nil, 0},
	} {
		if got, err := onchain.DecodePatches(test.answer); err != nil || got != chain.NewAmount(test.want) {
			t.Errorf("%s: DecodePatches = %s, %v, want %d", name, got, err, test.want)
		}
	}
	if got, err := onchain.DecodePatches(make([]byte, 31)); err == nil {
		t.Errorf("DecodePatches of half a word = %s, want an error", got)
	}
}

// hexBytes is a byte string that JSON represents as 0x hex.
type hexBytes []byte

func (b *hexBytes) UnmarshalText(text []byte) error {
	raw, err := hex.DecodeString(strings.TrimPrefix(string(text), "0x"))
	*b = raw
	return err
}

// recordedOrder is an order whose ID is known from another source.
type recordedOrder struct {
	Name  string
	ID    order.ID
	Terms order.Terms
}

func recordedOrders(tb testing.TB) []recordedOrder {
	tb.Helper()
	raw := must.Get(os.ReadFile("testdata/orders.json"))(tb)
	var orders []recordedOrder
	must.Do(tb, json.Unmarshal(raw, &orders))
	return orders
}

func TestIDIsThatOfRecordedOrders(t *testing.T) {
	for _, o := range recordedOrders(t) {
		if got := onchain.ID(o.Terms); got != o.ID {
			t.Errorf("%s: ID = %s, want %s", o.Name, got, o.ID)
		}
	}
}

// TestIDDependsOnEveryTerm has the terms that no recorded order has, or that are alike in all of them.
func TestIDDependsOnEveryTerm(t *testing.T) {
	terms := recordedOrders(t)[0].Terms
	other := chain.NewAddress([]byte("another address here"))
	seen := map[order.ID]string{onchain.ID(terms): "nothing"}
	for name, change := range map[string]func(*order.Terms){
		"give authority":     func(o *order.Terms) { o.Authorities.GivePatch = other },
		"order authority":    func(o *order.Terms) { o.Authorities.Order = other },
		"allowed taker":      func(o *order.Terms) { o.Authorities.AllowedTaker = other },
		"cancel beneficiary": func(o *order.Terms) { o.Authorities.CancelBeneficiary = other },
		"external call":      func(o *order.Terms) { o.ExternalCall = []byte{1} },
		"external call hash": func(o *order.Terms) { o.ExternalCallHash = chain.Hash{1} },
	} {
		changed := terms
		change(&changed)
		id := onchain.ID(changed)
		if same, taken := seen[id]; taken {
			t.Errorf("changing %s gives the same id as changing %s", name, same)
		}
		seen[id] = name
	}
}
