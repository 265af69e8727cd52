package stories_test

import (
	"math/big"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"crossgate/config"
	"crossgate/sandbox"
	"crossgate/sandbox/sandboxtest"
)

// TestAFixedOutcomeIsDelivered asks for outcomes in place of inputs, sends the transactions, and looks at what the
// recipient then has: at least what was asked for, and at most 1.5 % more, which is the tolerance of the swaps.
func TestAFixedOutcomeIsDelivered(t *testing.T) {
	t.Parallel()
	world := sandboxtest.Start(t, sandbox.Options{})
	ethereum, _ := world.Chain(1)
	for _, row := range []struct {
		name        string
		execution   config.Execution
		onChainOnly bool
	}{
		{"router", config.ExecuteByRouter, false},
		{"direct", config.ExecuteDirectly, false},
		{"exchanges on chain", config.ExecuteDirectly, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			trader := newTrader(t, world, ethereum, serveSwaps(t, world, func(c *config.Config) {
				c.Swap.Execution = row.execution
				c.Venues = slices.DeleteFunc(c.Venues, func(v config.Venue) bool { return row.onChainOnly && len(v.Endpoints) > 0 })
			}))
			for _, swap := range []swapCase{
				{in: "coin", out: "USDC", amount: "350000000"},
				{in: "USDC", out: "DAI", amount: "75000000000000000000", toStranger: true},
				{in: "USDC", out: "coin", amount: "20000000000000000", toStranger: true},
			} {
				t.Run(swap.String(), func(t *testing.T) { trader.makeOutcome(t, swap) })
			}
		})
	}
}

// makeOutcome makes a swap whose amount is that of the output.
func (w *trader) makeOutcome(t *testing.T, c swapCase) {
	t.Helper()
	query, recipient := w.query(c), w.recipient(c)
	query.Set("tokenInAmount", "auto")
	query.Set("tokenOutAmount", c.amount)
	var swap swapJSON
	w.ask(t, query, &swap)
	if c.in != "coin" {
		most := new(big.Int).Mul(decimal(t, swap.TokenIn.Amount), big.NewInt(2))
		w.approve(t, common.HexToAddress(w.tokens[c.in]), common.HexToAddress(swap.Tx.To), most)
		w.ask(t, query, &swap)
	}
	out, wanted := common.HexToAddress(w.tokens[c.out]), decimal(t, c.amount)
	if least := decimal(t, swap.TokenOut.MinAmount); least.Cmp(wanted) < 0 {
		t.Errorf("minAmount = %s, want at least %s", least, wanted)
	}
	before := w.balance(t, out, recipient)
	w.send(t, common.HexToAddress(swap.Tx.To), hexutil.MustDecode(swap.Tx.Data), decimal(t, swap.Tx.Value))
	got := new(big.Int).Sub(w.balance(t, out, recipient), before)
	most := new(big.Int).Quo(new(big.Int).Mul(wanted, big.NewInt(1015)), big.NewInt(1000))
	if got.Cmp(wanted) < 0 || got.Cmp(most) > 0 {
		t.Errorf("the recipient got %s, want %s to %s", got, wanted, most)
	}
}
