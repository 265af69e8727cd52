package stories_test

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/sandbox"
	"crossgate/sandbox/sandboxtest"
)

// TestOperatorIsPaidByDirectSwaps configures a fee, sends transactions that call venues directly, and looks at what the
// operator then has of the input. makeSwap looks at the recipient and the affiliate.
func TestOperatorIsPaidByDirectSwaps(t *testing.T) {
	t.Parallel()
	world := sandboxtest.Start(t, sandbox.Options{})
	const bps = 20
	operator := common.HexToAddress("0x000000000000000000000000000000000000f00d")
	address := serveSwaps(t, world, func(c *config.Config) {
		c.Swap.Execution = config.ExecuteDirectly
		c.Swap.Fee = config.Fee{Bps: bps, Recipient: chain.NewAddress(operator.Bytes())}
	})
	base, _ := world.Chain(8453)
	trader := newTrader(t, world, base, address)
	for _, one := range []swapCase{
		{"coin", "USDC", "250000000000000000", false, ""},
		{"USDC", "DAI", "20000000", true, ""},
		{"USDC", "coin", "90000000", true, "0.3"},
	} {
		t.Run(one.String(), func(t *testing.T) {
			in := common.HexToAddress(trader.tokens[one.in])
			before := trader.balance(t, in, operator)
			swap := trader.makeSwap(t, one)
			got := new(big.Int).Sub(trader.balance(t, in, operator), before)
			if want := part(decimal(t, one.amount), bps, 10_000); got.Cmp(want) != 0 {
				t.Errorf("the operator got %s of the input, want %s", got, want)
			}
			swapped := int64(10_000 - bps)
			if one.affiliate != "" {
				swapped -= 30
			}
			// The trial's amounts are the answer's, so that the fee can be told from them to the unit.
			want := part(decimal(t, swap.TokenOut.Amount), bps, swapped)
			if fee := decimal(t, swap.ProtocolFee); fee.Cmp(want) != 0 || swap.fee(t, "SingleChainSwapProtocolFee").Cmp(want) != 0 {
				t.Errorf("protocolFee = %s with costs %+v, want %s", fee, swap.CostsDetails, want)
			}
		})
	}
}

// part is floor(amount × numerator / denominator).
func part(amount *big.Int, numerator, denominator int64) *big.Int {
	product := new(big.Int).Mul(amount, big.NewInt(numerator))
	return product.Quo(product, big.NewInt(denominator))
}
