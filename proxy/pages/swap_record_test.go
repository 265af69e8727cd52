package pages

import (
	"io"
	"math/big"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/proxy/wire"
	"crossgate/token"
)

// swapped is a swap of 0.5 ETH for 1,500 USDC on Base.
func swapped() *wire.SwapRecord {
	usdc, _ := chain.ParseAddress("0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", chain.EVM)
	return &wire.SwapRecord{
		Swap: order.Swap{ID: order.ID{0x5a}, At: order.At{Chain: 8453, Tx: chain.NewTxHash(make([]byte, 32))}, Fact: order.Swapped{
			TokenIn: chain.NativeCoin(chain.EVM), AmountIn: chain.NewAmount(5e17), TokenOut: usdc, AmountOut: chain.NewAmount(1_500_000_000),
		}},
		In: token.Token{Decimals: 18, Name: "Ether", Symbol: "ETH"}, Out: token.Token{Decimals: 6, Name: "USD Coin", Symbol: "USDC"},
	}
}

func TestSwapRecordSaysWhatItIsWorth(t *testing.T) {
	pages := NewViews(Explored())
	page := Text(Render(t, func(to io.Writer) error {
		return pages.SwapRecord(to, SwapRecord{Record: swapped(), In: big.NewRat(3200, 1), Now: Noon})
	}))
	for _, want := range []string{"0.5 ETH Ether, $1,600.00 now", "1,500 USDC USD Coin, no price now", "Rate 1 ETH for 3,000 USDC, 1 USDC for 0.000333333 ETH"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q: %s", want, page)
		}
	}
}
