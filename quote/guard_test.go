package quote_test

import (
	"bytes"
	"errors"
	"testing"

	"crossgate/chain"
	"crossgate/quote"
)

// TestGuardLetsNoLieWin has the guard see transactions and their minima; upstream/evm/swap has the lies that there are.
func TestGuardLetsNoLieWin(t *testing.T) {
	for name, lie := range map[string]func(*quote.Tx){
		"calls another contract": func(tx *quote.Tx) { tx.To = usdc },
		"enforces less":          func(tx *quote.Tx) { tx.Data = bytes.Replace(tx.Data, tx.Data[4:36], make([]byte, 32), 1) },
	} {
		liar := &fakeVenue{name: "liar", perInput: 9, lie: lie}
		got, err := estimator(liar, &fakeVenue{name: "honest", perInput: 1}).Estimate(t.Context(), usdcToDai())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		expect(t, name, names(got.Compared), []string{"honest"})
		if why := refused(got)["liar"]; !errors.Is(why, quote.ErrRefused) {
			t.Errorf("%s: refused = %v, want ErrRefused", name, why)
		}
	}
}

// purse is an estimator for senders who have an amount of everything, on a chain with a gas price.
func purse(has uint64, price quote.GasPrice, venues ...quote.Venue) *quote.Estimator {
	return asking(quote.Chain{
		Fees:      meter{price: price, gas: 200_000, dataFee: chain.NewAmount(9)},
		Simulator: &dryRun{has: chain.NewAmount(has)},
	}, venues...)
}

func wholeOf(in, out chain.Address) quote.Request {
	return quote.Request{Chain: 1, TokenIn: in, TokenOut: out, MaxBalance: true, Recipient: recipient}
}

func TestWholeOfATokenIsItsBalance(t *testing.T) {
	only := &fakeVenue{name: "only", perInput: 10_000}
	got := estimate(t, purse(77_000_000, quote.GasPrice{Expected: chain.NewAmount(1)}, only), wholeOf(usdc, dai))
	if !got.MaxBalance || got.In.Amount != chain.NewAmount(77_000_000) {
		t.Errorf("input %s, want the balance", got.In.Amount)
	}
}

func TestWholeOfTheCoinLeavesWhatTheTransactionMayCost(t *testing.T) {
	const has = 1_000_000_000
	for _, row := range []struct {
		name  string
		price quote.GasPrice
		want  uint64
	}{
		{"with a base fee", quote.GasPrice{Expected: chain.NewAmount(10), MaxFee: chain.NewAmount(20)}, has - 600_000*20 - 9},
		{"without", quote.GasPrice{Expected: chain.NewAmount(100), Legacy: true}, has - 600_000*125 - 9},
	} {
		only := &fakeVenue{name: "only", perInput: 10_000, gas: 250_000}
		got, err := purse(has, row.price, only).Estimate(t.Context(), wholeOf(coin, dai))
		if err != nil {
			t.Errorf("%s: %v", row.name, err)
			continue
		}
		if got.In.Amount != chain.NewAmount(row.want) || got.Tx.Value != got.In.Amount {
			t.Errorf("%s: input %s with value %s, want %d", row.name, got.In.Amount, got.Tx.Value, row.want)
		}
		if left := chain.NewAmount(has).Sub(got.In.Amount); got.Fee.Total.Cmp(left) > 0 {
			t.Errorf("%s: the fee %s is more than the %s that are left", row.name, got.Fee.Total, left)
		}
	}
}
