package tron_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"crossgate/chain"
	"crossgate/quote"
	"crossgate/upstream/tron"
)

func TestRecordedEnergyPriceIsTheSameForEverybody(t *testing.T) {
	c := serve(t, recorded(t, "eth_gasPrice"))
	for _, priority := range []quote.Priority{quote.Normal, quote.Aggressive} {
		price, err := c.GasPrice(t.Context(), priority)
		if want := (quote.GasPrice{Expected: chain.NewAmount(100), Legacy: true}); err != nil || price != want {
			t.Errorf("GasPrice(%d) = %+v, %v, want 100 sun", priority, price, err)
		}
	}
}

// TestBandwidthCoversARecordedTransaction compares with what TRON's own interface made of a call.
func TestBandwidthCoversARecordedTransaction(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "recorded", "chains", "tron-wallet-triggersmartcontract.json"))
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("the recorded material lies in a folder named shared beside the checkout of this repository")
	}
	if err != nil {
		t.Fatal(err)
	}
	var told struct {
		Response struct {
			Body struct {
				Transaction struct {
					Raw string `json:"raw_data_hex"`
				}
			}
		}
	}
	if err := json.Unmarshal(raw, &told); err != nil {
		t.Fatal(err)
	}
	made := told.Response.Body.Transaction
	const signatureAndOutcome, room = 67 + 3 + 64, 14 // room: for a value that is sent, and longer lengths
	size := uint64(len(made.Raw)/2 + signatureAndOutcome)
	var c *tron.Chain
	fee, err := c.DataFee(t.Context(), chain.Address{}, quote.Tx{Data: make([]byte, 4+2*32)}, 0) // a transfer
	if least, most := chain.NewAmount(1000*size), chain.NewAmount(1000*(size+room)); err != nil || fee.Cmp(least) < 0 || fee.Cmp(most) > 0 {
		t.Errorf("DataFee() = %s, %v, want %s to %s sun", fee, err, least, most)
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
	address, err := chain.ParseAddress("TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", chain.TVM)
	if err != nil {
		t.Fatal(err)
	}
	return address
}
