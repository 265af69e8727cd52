package wire

import (
	"testing"

	"crossgate/order"
	"crossgate/token"
)

// madeSwap is a swap of USDC on Base for its coin.
func madeSwap(t *testing.T, affiliate *order.Affiliate) SwapRecord {
	t.Helper()
	at := on(base, evmTx(0xc1), 49_079_683, 1_784_948_713)
	return SwapRecord{
		Swap: order.Swap{ID: hash(0x5a), At: at, Fact: order.Swapped{
			Sender: account(0xa1), Recipient: account(0xb1),
			TokenIn: account(0x83), AmountIn: amount(t, "5000000"),
			TokenOut: account(0), AmountOut: amount(t, "2000723290779000"), Fee: amount(t, "1600578632623"),
			Affiliate: affiliate, ReferralCode: 31805,
		}},
		In: usdc, Out: token.Token{Decimals: 18, Name: "Ethereum", Symbol: "ETH"},
	}
}

func TestAppendSwapRecord(t *testing.T) {
	paid := &order.Affiliate{Beneficiary: account(0xaf), Amount: amount(t, "1000000")}
	unnamed := &order.Affiliate{Amount: amount(t, "7")}
	checkGolden(t, "same_chain_swap", documented.AppendSwapRecord(nil, madeSwap(t, paid)))
	checkGolden(t, "same_chain_swap_plain", documented.AppendSwapRecord(nil, madeSwap(t, nil)))
	checkGolden(t, "same_chain_swap_unnamed", documented.AppendSwapRecord(nil, madeSwap(t, unnamed)))
}
