package quote

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"crossgate/chain"
)

func amount(text string) chain.Amount {
	a, err := chain.ParseAmount(text)
	if err != nil {
		panic(err)
	}
	return a
}

func TestOutcomeComputesAsTheHostedServiceDoes(t *testing.T) {
	o := newOutcome(amount("2000723290779000"), charges{protocolBps: 8}, decimal.RequireFromString("0.3"))
	want := []Cost{
		{
			Type: "SingleChainSwapProtocolFee", AmountIn: amount("2000723290779000"), AmountOut: amount("1999122712146377"),
			Fee: amount("1600578632623"), FeeBps: "8",
		},
		{
			Type: "SingleChainSwapEstimatedSlippage", AmountIn: amount("1999122712146377"), AmountOut: amount("1993120542274040"),
			Fee: amount("6002169872337"), FeeBps: "30",
		},
	}
	if diff := cmp.Diff(want, o.costs(), cmp.Comparer(func(a, b chain.Amount) bool { return a == b })); diff != "" {
		t.Errorf("costs (-want +got):\n%s", diff)
	}
}

// recorded reads a recorded answer, golden a recording of real contracts; both lie beside the repository.
func recorded(t *testing.T, path string, into any) {
	t.Helper()
	readShared(t, filepath.Join("recorded", filepath.FromSlash(path)), into)
}

func golden(t *testing.T, path string, into any) {
	t.Helper()
	readShared(t, filepath.Join("golden", filepath.FromSlash(path)), into)
}

func readShared(t *testing.T, path string, into any) {
	t.Helper()
	path = filepath.Join("..", "..", "shared", path)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Skipf("recording not present: %s; it is in the folder shared, which lies beside the repository", path)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

func TestOutcomeEqualsTheRecordedAnswer(t *testing.T) {
	var answer struct {
		TokenOut     struct{ Amount, MinAmount string }
		Slippage     decimal.Decimal
		ProtocolFee  string
		CostsDetails []struct {
			Type, AmountIn, AmountOut string
			Payload                   struct{ FeeAmount, FeeBps string }
		}
	}
	recorded(t, "debridge/chain-transaction-ethereum-usdc-to-eth-2026-09.json", &answer)
	o := newOutcome(amount(answer.CostsDetails[0].AmountIn), charges{protocolBps: 8}, answer.Slippage)
	if o.net() != amount(answer.TokenOut.Amount) || o.minimum != amount(answer.TokenOut.MinAmount) || o.protocolFee != amount(answer.ProtocolFee) {
		t.Errorf("outcome = %+v, want the recorded amounts %+v", o, answer.TokenOut)
	}
	for i, cost := range o.costs() {
		line := answer.CostsDetails[i]
		want := Cost{line.Type, amount(line.AmountIn), amount(line.AmountOut), amount(line.Payload.FeeAmount), line.Payload.FeeBps}
		if cost != want {
			t.Errorf("cost %d = %+v, want %+v", i, cost, want)
		}
	}
}

// TestMinimumIsWhatRecordedCalldataEnforces reads a Velora transaction for 1 % slippage, whose minimum is
// floor(out × 0.99).
func TestMinimumIsWhatRecordedCalldataEnforces(t *testing.T) {
	var answer struct {
		PriceRoute struct{ DestAmount string }
		TxParams   struct{ Data string }
	}
	recorded(t, "venues/velora.native-input.spandex.json", &answer)
	data, err := hex.DecodeString(strings.TrimPrefix(answer.TxParams.Data, "0x"))
	if err != nil {
		t.Fatal(err)
	}
	s := Swap{SlippagePercent: decimal.NewFromInt(1)}
	o, err := promise(answer.PriceRoute.DestAmount, s).directOutcome(s, Tx{Data: data})
	if word := o.minimum.Bytes32(); err != nil || !bytes.Contains(data, word[:]) {
		t.Errorf("minimum of %s = %s, %v, which the calldata does not hold", answer.PriceRoute.DestAmount, o.minimum, err)
	}
}

// promise is an offer to call the venue directly, of which nobody else is paid.
func promise(out string, s Swap) offer {
	return offer{outcome: newOutcome(amount(out), charges{}, s.SlippagePercent)}
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
		quoted, err := chain.AmountFromBig(gross.Sub(gross.Mul(fee).Shift(-2).Floor()).BigInt())
		if err != nil {
			t.Fatal(err)
		}
		for name, enforce := range ways {
			enforced, err := chain.AmountFromBig(enforce(gross, slippage, fee).BigInt())
			if err != nil {
				t.Fatal(err)
			}
			word := enforced.Bytes32()
			tx := Tx{Data: append([]byte{0xca, 0x11, 0xda, 0x7a}, word[:]...)}
			s := Swap{SlippagePercent: slippage}
			o, err := promise(quoted.String(), s).directOutcome(s, tx)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if o.minimum.Cmp(enforced) > 0 || enforced.Sub(o.minimum).Cmp(chain.NewAmount(2)) > 0 {
				t.Fatalf("%s: minimum of %s at %s %% = %s, but %s is enforced", name, quoted, slippage, o.minimum, enforced)
			}
		}
	})
}
