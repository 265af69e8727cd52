package tron_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/internal/pooltest"
	"crossgate/order"
	"crossgate/quote"
	"crossgate/sandbox"
	"crossgate/sandbox/sandboxtest"
	"crossgate/token"
	"crossgate/upstream/evm"
	"crossgate/upstream/evm/swap"
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

// TestHistoriesAreWhatAllBlocksTell proves that an order's transactions and storage yield the history in all blocks.
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

	// Without Multicall3 the node answers one by one, and refuses calls of addresses that are not contracts.
	there, _ := world.Chain(chain.Tron)
	facts := there.Facts
	facts.Contracts.Multicall = chain.Address{}
	got, err := evm.New(facts, rpcAt(t, there.RPC)).ReadTokens(t.Context(), addresses)
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("ReadTokens() one by one = %+v, %v, want %+v", got, err, want)
	}
}

func TestTrialsOnTron(t *testing.T) {
	world, c := open(t)
	there, _ := world.Chain(chain.Tron)
	rich := chain.NewAddress(world.Accounts()[0].Address.Bytes())
	poor := chain.NewAddress([]byte("nobody has anything."))
	wrapped, coin := there.Facts.WrappedCoin, chain.NativeCoin(chain.TVM)
	deposit := quote.Tx{To: wrapped, Data: []byte{0xd0, 0xe3, 0x0d, 0xb0}, Value: chain.NewAmount(1_000_000)}
	refused := quote.Tx{To: wrapped, Data: []byte{1, 2, 3, 4}}
	beyond := quote.Tx{To: wrapped, Data: deposit.Data, Value: chain.MaxAmount}
	s := swap.NewSimulator(c)
	for _, row := range []struct {
		name  string
		trial quote.Simulation
		want  error
	}{
		{"a wrapping of the coin", quote.Simulation{Sender: rich, In: coin, AmountIn: deposit.Value, Tx: deposit}, nil},
		{"a call that the contract refuses", quote.Simulation{Sender: rich, In: coin, AmountIn: chain.NewAmount(1), Tx: refused}, quote.ErrReverted},
		{"of a sender without the coin", quote.Simulation{Sender: poor, In: coin, AmountIn: deposit.Value, Tx: deposit}, quote.ErrSenderLacks},
		{"of a sender without the token", quote.Simulation{Sender: poor, In: usdtOf(t), AmountIn: chain.NewAmount(1), Tx: refused}, quote.ErrSenderLacks},
		{"of a sender without the value", quote.Simulation{Sender: rich, In: usdtOf(t), AmountIn: chain.NewAmount(1), Tx: beyond, Spender: poor}, quote.ErrSenderLacks},
		{"of a sender who allowed nothing", quote.Simulation{Sender: rich, In: usdtOf(t), AmountIn: chain.NewAmount(1), Tx: refused, Spender: poor}, quote.ErrNotSimulated},
	} {
		found, err := s.Simulate(t.Context(), row.trial)
		if !errors.Is(err, row.want) || (row.want == nil) != (found.Gas > 21_000) || found.Measured {
			t.Errorf("Simulate %s = %+v, %v, want error %v", row.name, found, err, row.want)
		}
	}
	for _, token := range []chain.Address{coin, usdtOf(t)} {
		has, err := s.Balance(t.Context(), token, rich)
		none, errNone := s.Balance(t.Context(), token, poor)
		if err != nil || errNone != nil || has.IsZero() || !none.IsZero() {
			t.Errorf("Balance of %s = %s, %v and %s, %v, want something and nothing", token, has, err, none, errNone)
		}
	}
}

func usdtOf(t *testing.T) chain.Address {
	t.Helper()
	return must.Get(chain.ParseAddress("TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", chain.TVM))(t)
}
