package tron_test

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/internal/pooltest"
	"crossgate/order"
	"crossgate/sandbox"
	"crossgate/sandbox/sandboxtest"
	"crossgate/token"
	"crossgate/upstream/evm"
	"crossgate/upstream/jsonrpc"
)

// open returns the sandbox's world and its TRON.
func open(t *testing.T) (*sandbox.World, *evm.Chain) {
	t.Helper()
	world := sandboxtest.Shared(t)
	there, _ := world.Chain(chain.Tron)
	return world, evm.New(there.Facts, rpcAt(t, there.RPC))
}

func rpcAt(t *testing.T, url string) *jsonrpc.Client {
	t.Helper()
	return jsonrpc.New(pooltest.At(t, url))
}

// What one order's transactions and storage lead to is what reading all blocks leads to.
func TestHistoriesAreWhatAllBlocksTell(t *testing.T) {
	world, c := open(t)
	head, err := c.Head(t.Context())
	if err != nil || head.Finalized >= head.Latest.Number || head.Finalized == 0 {
		t.Fatalf("Head() = %+v, %v, want an older final block", head, err)
	}
	all := must.Get(c.Events(t.Context(), 0, head.Latest.Number))(t)
	byOrder := map[order.ID][]order.Event{}
	for _, e := range all {
		byOrder[e.Order] = append(byOrder[e.Order], e)
	}
	orders := must.Get(world.Orders(t.Context()))(t)
	states := map[order.State]int{}
	for _, o := range orders {
		side := order.TakeSide
		if o.GiveChain() == chain.Tron {
			side = order.GiveSide
		} else if o.TakeChain() != chain.Tron {
			continue
		}
		read, err := c.History(t.Context(), order.ID(o.ID), side, 0)
		got := read.Events
		if err != nil {
			t.Errorf("History of %q: %v", o.Title, err)
		}
		if want := byOrder[order.ID(o.ID)]; !reflect.DeepEqual(got, want) {
			t.Errorf("History of %q = %+v, want %+v as all blocks tell", o.Title, got, want)
		}
		state := must.Get(world.State(t.Context(), o))(t)
		states[state]++
	}
	for _, state := range []order.State{
		order.StateCreated, order.StateFulfilled, order.StateSentUnlock, order.StateClaimedUnlock,
		order.StateSentOrderCancel, order.StateClaimedOrderCancel,
	} {
		if states[state] < 2 {
			t.Errorf("%d orders in state %v, want some in each direction", states[state], state)
		}
	}
}

func TestTokensOfTron(t *testing.T) {
	world, c := open(t)
	var addresses []chain.Address
	for _, text := range []string{"TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", "TNUC9Qb1rRpS5CbWLmNMxXBjyFoydXjWFR", "TJuJ19AsSBahPvg2j5AS3v37TtnmuMmeDL"} {
		addresses = append(addresses, must.Get(chain.ParseAddress(text, chain.TVM))(t))
	}
	six := uint8(6)
	want := []token.Reading{
		{Decimals: &six, Name: "Tether USD", Symbol: "USDT", IsSingle: true},
		{Decimals: &six, Name: "Wrapped TRON", Symbol: "WTRX", IsSingle: true},
		{IsSingle: true},
	}
	if got, err := c.ReadTokens(t.Context(), addresses); err != nil || !cmp.Equal(got, want) {
		t.Errorf("ReadTokens() = %+v, %v, want %+v", got, err, want)
	}

	// Without Multicall3, node by node answer, which refuse to call what is no contract.
	there, _ := world.Chain(chain.Tron)
	facts := there.Facts
	facts.Contracts.Multicall = chain.Address{}
	got, err := evm.New(facts, rpcAt(t, there.RPC)).ReadTokens(t.Context(), addresses)
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("ReadTokens() one by one = %+v, %v, want %+v", got, err, want)
	}
}
