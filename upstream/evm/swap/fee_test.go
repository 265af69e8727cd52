package swap

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/internal/rpctest"
	"crossgate/quote"
)

const gwei = 1_000_000_000

func TestGasPrice(t *testing.T) {
	base, polygon := documented(t, 8453), documented(t, 137)
	// Next base fee 10 gwei; medians of the used blocks: 2 gwei and 4 gwei.
	market := `"result":{"oldestBlock":"0x1","baseFeePerGas":["0x1","0x1","0x1","0x1","0x2540be400"],
		"gasUsedRatio":[0.5,0,0.9,1],"reward":[["0x3b9aca00","0x77359400"],["0x0","0x0"],["0x77359400","0xee6b2800"],["0xb2d05e00","0x12a05f200"]]}`
	quiet := `"result":{"oldestBlock":"0x1","baseFeePerGas":["0x1","0x2540be400"],"gasUsedRatio":[0],"reward":[["0x0","0x0"]]}`
	none := `"result":{"oldestBlock":"0x1","baseFeePerGas":["0x0","0x0"],"gasUsedRatio":[0.1],"reward":[["0x0","0x0"]]}`
	amount := func(n uint64) chain.Amount { return chain.NewAmount(n * gwei) }
	for _, test := range []struct {
		name     string
		chain    chain.Chain
		history  string
		priority quote.Priority
		want     quote.GasPrice
	}{
		{"normal", base, market, quote.Normal, quote.GasPrice{Expected: amount(12), Base: amount(10), MaxFee: amount(22), MaxPriority: amount(2)}},
		{"aggressive", base, market, quote.Aggressive, quote.GasPrice{Expected: amount(14), Base: amount(10), MaxFee: amount(34), MaxPriority: amount(4)}},
		{"least tip", polygon, market, quote.Normal, quote.GasPrice{Expected: amount(35), Base: amount(10), MaxFee: amount(45), MaxPriority: amount(25)}},
		{"nobody pays tips", base, quiet, quote.Aggressive, quote.GasPrice{Expected: amount(10), Base: amount(10), MaxFee: amount(30)}},
		{"no base fee", base, none, quote.Normal, quote.GasPrice{Expected: amount(8), Legacy: true}},
		{"no fee history", base, rpctest.Fault(-32601, "method not found"), quote.Aggressive, quote.GasPrice{Expected: amount(10), Legacy: true}},
		{"null", base, `"result":null`, quote.Normal, quote.GasPrice{Expected: amount(8), Legacy: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := &node{answers: map[string]string{"eth_feeHistory": test.history, "eth_gasPrice": `"result":"0x1dcd65000"`}}
			c := NewFees(n.serve(t, test.chain))
			must.Get(c.GasPrice(t.Context(), quote.Aggressive-test.priority))(t)
			got, err := c.GasPrice(t.Context(), test.priority)
			if err != nil || got != test.want {
				t.Errorf("GasPrice() = %+v, %v, want %+v", got, err, test.want)
			}
			if n.requests != 1 {
				t.Errorf("GasPrice() took %d round trips, want 1 for both priorities", n.requests)
			}
		})
	}
}

// TestADearPriceTakesTwoNodes, of which the lower counts: makers of orders pay takers for gas and for publishing.
func TestADearPriceTakesTwoNodes(t *testing.T) {
	saying := func(base, plain, published uint64) *node {
		n := &node{answers: map[string]string{
			"eth_feeHistory": fmt.Sprintf(`"result":{"baseFeePerGas":["0x%x"]}`, base), "eth_gasPrice": fmt.Sprintf(`"result":"0x%x"`, plain),
		}}
		n.contract = func(_, data string) string {
			if strings.HasPrefix(data, fmt.Sprintf("0x%x", getL1Fee[:])) || published > 1<<20 {
				return fmt.Sprintf("0x%064x", published)
			}
			return nothingWord
		}
		return n
	}
	for name, other := range map[string]*node{
		"gas": saying(1<<50, 1<<50, 1<<20), "publishing": saying(gwei, gwei, 1<<50), "base fees, all zero": saying(0, gwei, 1<<20),
	} {
		for _, isFirst := range []bool{true, false} {
			honest := saying(gwei, gwei, 1<<20)
			nodes := []*node{honest, other}
			if isFirst {
				nodes = []*node{other, honest}
			}
			for id, isMarket := range map[chain.ID]bool{8453: true, chain.Tron: false} {
				f := NewFees(serveAll(t, documented(t, id), nodes...))
				price, err := f.GasPrice(t.Context(), quote.Normal)
				if err != nil || price.Expected != chain.NewAmount(gwei) || price.Legacy == isMarket {
					t.Errorf("dear %s, by the first: %t: chain %d: %+v, %v, want %d", name, isFirst, id, price, err, gwei)
				}
				fee, err := f.DataFee(t.Context(), swapOnBase, 210_000)
				if want := chain.NewAmount(1 << 20); err != nil || isMarket && fee != want {
					t.Errorf("dear %s, by the first: %t: data fee = %s, %v, want %s", name, isFirst, fee, err, want)
				}
			}
		}
	}
	first, second := saying(gwei, gwei, 1<<20), saying(gwei, gwei, 1<<20)
	f := NewFees(serveAll(t, documented(t, 8453), first, second))
	for range 3 { // only the first reading takes both
		_, _, err := f.readFees(t.Context())
		_, errData := f.DataFee(t.Context(), swapOnBase, 210_000)
		if err != nil || errData != nil {
			t.Error(err, errData)
		}
	}
	if asked := second.methods["eth_feeHistory"]; asked != 1 || second.methods["eth_call"] != 1 {
		t.Errorf("the second node was asked %v, want once", second.methods)
	}
	first.answers["eth_feeHistory"], first.answers["eth_gasPrice"] = `"result":{"baseFeePerGas":["0x1"]}`, `"result":"0x1"` // which would leave takers nothing
	if prices, _, err := f.readFees(t.Context()); err != nil || prices[quote.Normal].Expected != chain.NewAmount(gwei) {
		t.Errorf("a price a billionth of the last one became %+v, %v, want %d", prices, err, gwei)
	}
}

// userError is the revert data of a contract with "user error" for a reason, refusing a node's answer with it.
const (
	userError = "0x08c379a00000000000000000000000000000000000000000000000000000000000000020000000000000000000000000000000000000000000000000000000000000000a75736572206572726f72"
	refusing  = `"error":{"code":3,"message":"execution reverted","data":"` + userError + `"}`
)

func TestEstimateGas(t *testing.T) {
	n := &node{answers: map[string]string{}}
	c := NewFees(n.serve(t, documented(t, 8453)))
	tx := quote.Tx{To: someToken, Data: []byte{1, 2}, Value: chain.NewAmount(3)}
	n.answers["eth_estimateGas"] = `"result":"0x5208"`
	if got, err := c.EstimateGas(t.Context(), somebody, tx); err != nil || got != 21000 {
		t.Errorf("EstimateGas() = %d, %v, want 21000", got, err)
	}
	for _, said := range []string{refusing, `"error":{"code":-32015,"message":"VM execution error.","data":"Reverted ` + userError + `"}`} {
		n.answers["eth_estimateGas"] = said
		if _, err := c.EstimateGas(t.Context(), somebody, tx); !errors.Is(err, quote.ErrReverted) || !strings.Contains(err.Error(), "user error") {
			t.Errorf("EstimateGas() of a revert = %v, want ErrReverted with the contract's words", err)
		}
	}
	n.answers["eth_estimateGas"] = rpctest.Fault(-32000, "insufficient funds for transfer")
	if _, err := c.EstimateGas(t.Context(), somebody, tx); err == nil || errors.Is(err, quote.ErrReverted) {
		t.Errorf("EstimateGas() without funds = %v, want an error that is no revert", err)
	}
}

// TestFeeHistoryIsAskedForOnce uses a node without eth_feeHistory: once that is known, only the gas price is requested.
func TestFeeHistoryIsAskedForOnce(t *testing.T) {
	n := &node{answers: map[string]string{"eth_gasPrice": `"result":"0x1dcd65000"`, "eth_feeHistory": rpctest.Fault(-32601, "method not found")}}
	c := n.serve(t, documented(t, 8453))
	for range 3 { // each starts without a price
		must.Get(NewFees(c).GasPrice(t.Context(), quote.Normal))(t)
	}
	if n.methods["eth_feeHistory"] != 1 || n.methods["eth_gasPrice"] != 3 {
		t.Errorf("asked %v, want for the fee history once, for the gas price three times", n.methods)
	}
}

func FuzzFeeHistory(f *testing.F) {
	f.Add(`{"baseFeePerGas":["0x0",null],"reward":[[],null],"gasUsedRatio":[1]}`)
	f.Fuzz(func(t *testing.T, body string) {
		var history *feeHistory
		if json.Unmarshal([]byte(body), &history) == nil && history.hasMarket() {
			history.price(quote.Normal, chain.Amount{})
			history.price(quote.Aggressive, chain.Amount{})
		}
	})
}

// swapOnBase is a transaction, unsignedOnBase its unsigned EIP-1559 form, encoded by other means.
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
		fee, err := NewFees(n.serve(t, base)).DataFee(t.Context(), swapOnBase, 210_000)
		if err != nil || fee != chain.NewAmount(row.want) {
			t.Errorf("%s: data fee = %s, %v, want %d", row.name, fee, err, row.want)
		}
	}
}

// TestNoWordOfTheOracleIsNotNothing: an unknown fee is an error, not 0.
func TestNoWordOfTheOracleIsNotNothing(t *testing.T) {
	for _, said := range []string{"0x", "!execution reverted", "0x01"} {
		n := &node{contract: func(string, string) string { return said }}
		if fee, err := NewFees(n.serve(t, documented(t, 8453))).DataFee(t.Context(), swapOnBase, 210_000); err == nil {
			t.Errorf("said %s: data fee = %s, want an error", said, fee)
		}
	}
}

// TestDataFeeOfLineaIsWhatSizeAddsToThePrice of the gas that is estimated with it, though the call would revert.
func TestDataFeeOfLineaIsWhatSizeAddsToThePrice(t *testing.T) {
	linea := documented(t, 59144)
	n := &node{reverts: swapOnBase.To.String(), answers: map[string]string{
		"linea_estimateGas": `"result":{"gasLimit":"0x33450","baseFeePerGas":"0x7","priorityFeePerGas":"0x3b9aca00"}`,
		"eth_gasPrice":      `"result":"0x1dcd6507"`, // half of it
	}}
	fee, err := NewFees(n.serve(t, linea)).DataFee(t.Context(), swapOnBase, 350_000)
	if want := chain.NewAmount(210_000 * 500_000_000); err != nil || fee != want {
		t.Errorf("data fee = %s, %v, want %s", fee, err, want)
	}
}

func TestOtherChainsChargeNothingBesideGas(t *testing.T) {
	for _, id := range []chain.ID{1, 42161, 137} {
		n := &node{}
		if fee, err := NewFees(n.serve(t, documented(t, id))).DataFee(t.Context(), swapOnBase, 210_000); err != nil || !fee.IsZero() || n.requests != 0 {
			t.Errorf("data fee on chain %d = %s, %v after %d calls, want none without a call", id, fee, err, n.requests)
		}
	}
}
