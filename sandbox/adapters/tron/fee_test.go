package tron_test

import (
	"errors"
	"testing"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/quote"
	"crossgate/upstream/tron"
)

func TestTrialsOnTron(t *testing.T) {
	world, c := open(t)
	there, _ := world.Chain(chain.Tron)
	rich := chain.NewAddress(world.Accounts()[0].Address.Bytes())
	poor := chain.NewAddress([]byte("nobody has anything."))
	wrapped, coin := there.Facts.WrappedCoin, chain.NativeCoin(chain.TVM)
	deposit := quote.Tx{To: wrapped, Data: []byte{0xd0, 0xe3, 0x0d, 0xb0}, Value: chain.NewAmount(1_000_000)}
	refused := quote.Tx{To: wrapped, Data: []byte{1, 2, 3, 4}}
	s := tron.NewSimulator(c)
	for _, row := range []struct {
		name  string
		trial quote.Simulation
		want  error
	}{
		{"a wrapping of the coin", quote.Simulation{Sender: rich, In: coin, AmountIn: deposit.Value, Tx: deposit}, nil},
		{"a call that the contract refuses", quote.Simulation{Sender: rich, In: coin, AmountIn: chain.NewAmount(1), Tx: refused}, quote.ErrReverted},
		{"of a sender without the coin", quote.Simulation{Sender: poor, In: coin, AmountIn: deposit.Value, Tx: deposit}, quote.ErrNotSimulated},
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
