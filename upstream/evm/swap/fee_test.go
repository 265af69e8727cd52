package swap

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/internal/must"
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
		{"no fee history", base, fault(-32601, "method not found"), quote.Aggressive, quote.GasPrice{Expected: amount(10), Legacy: true}},
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

func TestEstimateGas(t *testing.T) {
	n := &node{answers: map[string]string{}}
	c := NewFees(n.serve(t, documented(t, 8453)))
	tx := quote.Tx{To: someToken, Data: []byte{1, 2}, Value: chain.NewAmount(3)}
	n.answers["eth_estimateGas"] = `"result":"0x5208"`
	if got, err := c.EstimateGas(t.Context(), somebody, tx); err != nil || got != 21000 {
		t.Errorf("EstimateGas() = %d, %v, want 21000", got, err)
	}
	n.answers["eth_estimateGas"] = `"error":{"code":3,"message":"execution reverted",` +
		`"data":"0x08c379a00000000000000000000000000000000000000000000000000000000000000020000000000000000000000000000000000000000000000000000000000000000a75736572206572726f72"}`
	if _, err := c.EstimateGas(t.Context(), somebody, tx); !errors.Is(err, quote.ErrReverted) || !strings.Contains(err.Error(), "user error") {
		t.Errorf("EstimateGas() of a revert = %v, want ErrReverted with the contract's words", err)
	}
	n.answers["eth_estimateGas"] = fault(-32000, "insufficient funds for transfer")
	if _, err := c.EstimateGas(t.Context(), somebody, tx); err == nil || errors.Is(err, quote.ErrReverted) {
		t.Errorf("EstimateGas() without funds = %v, want an error that is no revert", err)
	}
}

// TestFeeHistoryIsAskedForOnce has a node without eth_feeHistory: once that is known, the gas price alone is asked for.
func TestFeeHistoryIsAskedForOnce(t *testing.T) {
	n := &node{answers: map[string]string{"eth_gasPrice": `"result":"0x1dcd65000"`, "eth_feeHistory": fault(-32601, "method not found")}}
	c := n.serve(t, documented(t, 8453))
	for range 3 { // each knows no price yet
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
