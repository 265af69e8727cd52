package creation_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"testing"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/internal/recorded"
	"crossgate/order"
	"crossgate/order/creation"
)

// TestRecordedTransactionsAreForeseen judges 55 transactions to the order contracts and the router, found on six
// chains, and compares with another decoder: 25 create an order.
func TestRecordedTransactionsAreForeseen(t *testing.T) {
	var decoded []struct {
		Hash  string
		Value chain.Amount
		Order *struct {
			OrderID4Bps                    order.ID
			GiveAmount                     chain.Amount
			ReferralCode                   uint32
			AffiliateFee, Permit, Metadata hexBytes
		}
		Router *struct {
			TokenIn, TokenOut, Refund chain.Address
			AmountIn, ExpectedOut     chain.Amount
		}
	}
	recorded.JSON(t, "recorded/chains/dln/decoded-A.json", &decoded)
	rows := json.NewDecoder(bytes.NewReader(recorded.File(t, "recorded/chains/dln/transactions-A.jsonl")))
	orders, others := 0, 0
	for _, want := range decoded {
		var row struct {
			ChainID uint64
			Tx      struct {
				Hash     string
				From, To chain.Address
				Input    hexBytes
			}
		}
		must.Do(t, rows.Decode(&row))
		if row.Tx.Hash != want.Hash {
			t.Fatalf("transaction %s, decoded %s", row.Tx.Hash, want.Hash)
		}
		const base = 8453 // whose contracts have the addresses of all six chains, and where the row without a chain is from
		on, _ := chain.Documented().Chain(base)
		state := creation.State{
			Chain: chain.ID(cmp.Or(row.ChainID, base)), Contracts: on.Contracts, PercentBps: new(uint64(4)), FixedFee: new(chain.NewAmount(1e15)),
		}
		f, err := creation.Judge(creation.Transaction{Sender: row.Tx.From, To: row.Tx.To, Value: want.Value, Data: row.Tx.Input}, state)
		switch {
		case want.Order == nil:
			if others++; !errors.Is(err, creation.ErrOtherFunction) && f.ID != nil {
				t.Errorf("%s: order %v, want none", want.Hash, f.ID)
			}
			continue
		case err != nil || f.Refusal != nil || f.ID == nil:
			t.Errorf("%s: %+v, %v, want an order", want.Hash, f, err)
			continue
		}
		orders++
		c := f.Creation
		if *f.ID != want.Order.OrderID4Bps || c.GiveAmount != want.Order.GiveAmount || c.ReferralCode != want.Order.ReferralCode || *f.Value != want.Value {
			t.Errorf("%s: %s of %s with value %s, want %+v", want.Hash, f.ID, c.GiveAmount, f.Value, *want.Order)
		}
		permit := c.Permit
		if w := f.Swap; w != nil && len(permit) == 0 {
			permit = w.Permit
		}
		if !bytes.Equal(c.Metadata, want.Order.Metadata) || !bytes.Equal(c.AffiliateFee, want.Order.AffiliateFee) || !bytes.Equal(permit, want.Order.Permit) {
			t.Errorf("%s: %+v, want %+v", want.Hash, c, *want.Order)
		}
		switch w, swaps := f.Swap, want.Router; {
		case (w == nil) != (swaps == nil):
			t.Errorf("%s: swap %+v, want %+v", want.Hash, w, swaps)
		case w == nil:
		case w.TokenIn != swaps.TokenIn || w.TokenOut != swaps.TokenOut || w.AmountIn != swaps.AmountIn ||
			w.ExpectedOut != swaps.ExpectedOut || w.RefundRecipient != swaps.Refund:
			t.Errorf("%s: swap %+v, want %+v", want.Hash, *w, *swaps)
		}
	}
	if orders != 25 || others != 30 {
		t.Errorf("%d orders and %d others, want 25 and 30", orders, others)
	}
}
