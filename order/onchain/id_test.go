package onchain_test

import (
	"encoding/json"
	"os"
	"testing"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/onchain"
)

// recordedOrder is an order whose id is known from elsewhere.
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

func TestIDDependsOnEveryTerm(t *testing.T) {
	terms := recordedOrders(t)[0].Terms
	other := chain.NewAddress([]byte("another address here"))
	changes := map[string]func(*order.Terms){
		"nonce":              func(o *order.Terms) { o.Nonce++ },
		"maker":              func(o *order.Terms) { o.Maker = other },
		"give chain":         func(o *order.Terms) { o.Give.Chain++ },
		"give token":         func(o *order.Terms) { o.Give.Token = other },
		"give amount":        func(o *order.Terms) { o.Give.Amount = o.Give.Amount.Add(chain.NewAmount(1)) },
		"take chain":         func(o *order.Terms) { o.Take.Chain++ },
		"take token":         func(o *order.Terms) { o.Take.Token = other },
		"take amount":        func(o *order.Terms) { o.Take.Amount = o.Take.Amount.Add(chain.NewAmount(1)) },
		"receiver":           func(o *order.Terms) { o.Receiver = other },
		"give authority":     func(o *order.Terms) { o.Authorities.GivePatch = other },
		"order authority":    func(o *order.Terms) { o.Authorities.Order = other },
		"allowed taker":      func(o *order.Terms) { o.Authorities.AllowedTaker = other },
		"cancel beneficiary": func(o *order.Terms) { o.Authorities.CancelBeneficiary = other },
		"external call":      func(o *order.Terms) { o.ExternalCall = []byte{1} },
		"external call hash": func(o *order.Terms) { o.ExternalCallHash = chain.Hash{1} },
	}
	seen := map[order.ID]string{onchain.ID(terms): "nothing"}
	for name, change := range changes {
		changed := terms
		change(&changed)
		id := onchain.ID(changed)
		if same, taken := seen[id]; taken {
			t.Errorf("changing %s gives the same id as changing %s", name, same)
		}
		seen[id] = name
	}
}
