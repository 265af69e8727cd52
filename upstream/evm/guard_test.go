package evm_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"crossgate/chain"
	"crossgate/quote"
	"crossgate/upstream/evm"
)

// minOut is the minimum that calldata enforces of a quote of gross with a slippage in percent.
func minOut(t rapid.TB, data []byte, gross, slippage decimal.Decimal) chain.Amount {
	t.Helper()
	paid, err := chain.AmountFromBig(gross.BigInt())
	if err != nil {
		t.Fatal(err)
	}
	lost, err := chain.AmountFromBig(gross.Mul(slippage).Shift(-2).Floor().BigInt())
	if err != nil {
		t.Fatal(err)
	}
	got, err := evm.Guard{}.MinOut(quote.Quote{}, quote.Tx{Data: data}, paid.Sub(lost), paid)
	if err != nil {
		t.Fatalf("MinOut of %s at %s %%: %v", gross, slippage, err)
	}
	return got
}

// TestMinimumIsWhatRecordedCalldataEnforces reads a Velora transaction for 1 % slippage, whose minimum is
// floor(out × 0.99).
func TestMinimumIsWhatRecordedCalldataEnforces(t *testing.T) {
	const recording = "recorded/venues/velora.native-input.spandex.json"
	evm.NeedRecorded(t, filepath.Join(evm.Recorded, recording))
	text, err := os.ReadFile(filepath.Join(evm.Recorded, recording))
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		PriceRoute struct{ DestAmount string }
		TxParams   struct{ Data string }
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		t.Fatal(err)
	}
	data, err := hex.DecodeString(strings.TrimPrefix(answer.TxParams.Data, "0x"))
	if err != nil {
		t.Fatal(err)
	}
	got := minOut(t, data, decimal.RequireFromString(answer.PriceRoute.DestAmount), decimal.NewFromInt(1))
	if word := got.Bytes32(); !bytes.Contains(data, word[:]) {
		t.Errorf("minimum of %s = %s, which the calldata does not hold", answer.PriceRoute.DestAmount, got)
	}
}

// TestMinimumIsNeverMoreThanEnforced tries the ways in which venues round.
func TestMinimumIsNeverMoreThanEnforced(t *testing.T) {
	hundred := decimal.NewFromInt(100)
	ways := map[string]func(gross, slippage, fee decimal.Decimal) decimal.Decimal{
		"minimum rounded down": func(gross, slippage, fee decimal.Decimal) decimal.Decimal {
			net := gross.Sub(gross.Mul(fee).Shift(-2).Floor())
			return net.Mul(hundred.Sub(slippage)).Shift(-2).Floor()
		},
		"slippage rounded down": func(gross, slippage, fee decimal.Decimal) decimal.Decimal {
			net := gross.Sub(gross.Mul(fee).Shift(-2).Floor())
			return net.Sub(net.Mul(slippage).Shift(-2).Floor())
		},
		"before the venue's fee": func(gross, slippage, fee decimal.Decimal) decimal.Decimal {
			least := gross.Mul(hundred.Sub(slippage)).Shift(-2).Ceil()
			return least.Sub(least.Mul(fee).Shift(-2).Floor())
		},
	}
	rapid.Check(t, func(t *rapid.T) {
		gross := decimal.NewFromUint64(rapid.Uint64Range(10_000, 1<<63).Draw(t, "gross"))
		slippage := decimal.New(rapid.Int64Range(0, 50_000).Draw(t, "slippage"), -3)
		fee := decimal.New(rapid.Int64Range(0, 100).Draw(t, "fee"), -2)
		quoted := gross.Sub(gross.Mul(fee).Shift(-2).Floor())
		for name, enforce := range ways {
			enforced, err := chain.AmountFromBig(enforce(gross, slippage, fee).BigInt())
			if err != nil {
				t.Fatal(err)
			}
			word := enforced.Bytes32()
			got := minOut(t, append([]byte{0xca, 0x11, 0xda, 0x7a}, word[:]...), quoted, slippage)
			if got.Cmp(enforced) > 0 || enforced.Sub(got).Cmp(chain.NewAmount(2)) > 0 {
				t.Fatalf("%s: minimum of %s at %s %% = %s, but %s is enforced", name, quoted, slippage, got, enforced)
			}
		}
	})
}
