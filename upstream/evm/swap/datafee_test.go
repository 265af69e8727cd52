package swap

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"crossgate/chain"
	"crossgate/quote"
)

// swapOnBase is a transaction with its unsigned EIP-1559 form, which was encoded by other means.
var swapOnBase = quote.Tx{
	To:    chain.NewAddress(common.FromHex("0x663dc15d3c1ac63ff12e45ab68fea3f0a883c251")),
	Data:  append([]byte{0x25, 0x8c, 0x16, 0xee}, make([]byte, 60)...),
	Value: chain.NewAmount(100_000_000_000_000_000),
}

const unsignedOnBase = "02f87382210501843b9aca00843b9aca0083033450" + // chain, nonce, prices, gas
	"94663dc15d3c1ac63ff12e45ab68fea3f0a883c251" + "88016345785d8a0000" + "b840258c16ee"

func TestDataFeeOfTheOPStackIsTheOraclesWord(t *testing.T) {
	base := documented(t, 8453)
	for _, row := range []struct {
		name, l1, operator string
		want               uint64
	}{
		{"both parts", fmt.Sprintf("0x%064x", 7_000_000), fmt.Sprintf("0x%064x", 500), 7_000_500},
		{"before operators had a share", fmt.Sprintf("0x%064x", 7_000_000), "!execution reverted", 7_000_000},
		{"an oracle that charges nothing", fmt.Sprintf("0x%064x", 0), "0x", 0},
	} {
		n := &node{contract: func(to, data string) string {
			switch {
			case to != "0x420000000000000000000000000000000000000f":
				t.Errorf("%s: asked %s", row.name, to)
			case strings.HasPrefix(data, "0x49948e0e"):
				if !strings.Contains(data, unsignedOnBase) {
					t.Errorf("%s: asked about %s, want %s in it", row.name, data, unsignedOnBase)
				}
				return row.l1
			case strings.HasPrefix(data, "0x275aedd2"):
				return row.operator
			}
			return "0x"
		}}
		fee, err := NewFees(n.serve(t, base)).DataFee(t.Context(), swapOnBase.To, swapOnBase, 210_000)
		if err != nil || fee != chain.NewAmount(row.want) {
			t.Errorf("%s: data fee = %s, %v, want %d", row.name, fee, err, row.want)
		}
	}
}

// TestNoWordOfTheOracleIsNotNothing: a fee that is not known is not 0.
func TestNoWordOfTheOracleIsNotNothing(t *testing.T) {
	for _, said := range []string{"0x", "!execution reverted", "0x01"} {
		n := &node{contract: func(string, string) string { return said }}
		if fee, err := NewFees(n.serve(t, documented(t, 8453))).DataFee(t.Context(), swapOnBase.To, swapOnBase, 210_000); err == nil {
			t.Errorf("said %s: data fee = %s, want an error", said, fee)
		}
	}
}

func TestDataFeeOfLineaIsWhatSizeAddsToThePrice(t *testing.T) {
	linea := documented(t, 59144)
	n := &node{answers: map[string]string{
		"linea_estimateGas": `"result":{"gasLimit":"0x33450","baseFeePerGas":"0x7","priorityFeePerGas":"0x3b9aca00"}`,
		"eth_gasPrice":      `"result":"0x1dcd6507"`, // half of it
	}}
	fee, err := NewFees(n.serve(t, linea)).DataFee(t.Context(), swapOnBase.To, swapOnBase, 210_000)
	if want := chain.NewAmount(210_000 * 500_000_000); err != nil || fee != want {
		t.Errorf("data fee = %s, %v, want %s", fee, err, want)
	}
}

func TestOtherChainsChargeNothingBesideGas(t *testing.T) {
	for _, id := range []chain.ID{1, 42161, 137} {
		n := &node{}
		if fee, err := NewFees(n.serve(t, documented(t, id))).DataFee(t.Context(), swapOnBase.To, swapOnBase, 210_000); err != nil || !fee.IsZero() || n.requests != 0 {
			t.Errorf("data fee on chain %d = %s, %v after %d calls, want none without a call", id, fee, err, n.requests)
		}
	}
}
