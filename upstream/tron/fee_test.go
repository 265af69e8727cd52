package tron_test

import (
	"testing"

	"crossgate/chain"
	"crossgate/internal/recorded"
	"crossgate/quote"
	"crossgate/upstream/tron"
)

func TestRecordedEnergyPriceIsTheSameForEverybody(t *testing.T) {
	c := tron.NewFees(serve(t, exchanged(t, "eth_gasPrice")))
	for _, priority := range []quote.Priority{quote.Normal, quote.Aggressive} {
		price, err := c.GasPrice(t.Context(), priority)
		if want := (quote.GasPrice{Expected: chain.NewAmount(100), Legacy: true}); err != nil || price != want {
			t.Errorf("GasPrice(%d) = %+v, %v, want 100 sun", priority, price, err)
		}
	}
}

// TestBandwidthCoversARecordedTransaction compares with what TRON's own interface made of a call.
func TestBandwidthCoversARecordedTransaction(t *testing.T) {
	var told struct {
		Response struct {
			Body struct {
				Transaction struct {
					Raw string `json:"raw_data_hex"`
				}
			}
		}
	}
	recorded.JSON(t, "recorded/chains/tron-wallet-triggersmartcontract.json", &told)
	made := told.Response.Body.Transaction
	const signatureAndOutcome, room = 67 + 3 + 64, 14 // room: for a value that is sent, and longer lengths
	size := uint64(len(made.Raw)/2 + signatureAndOutcome)
	fee, err := tron.Fees{}.DataFee(t.Context(), chain.Address{}, quote.Tx{Data: make([]byte, 4+2*32)}, 0) // a transfer
	if least, most := chain.NewAmount(1000*size), chain.NewAmount(1000*(size+room)); err != nil || fee.Cmp(least) < 0 || fee.Cmp(most) > 0 {
		t.Errorf("DataFee() = %s, %v, want %s to %s sun", fee, err, least, most)
	}
}
