package pages

import (
	"crossgate/chain"
	"crossgate/order"
	"crossgate/proxy/wire"
	"crossgate/token"
)

// swapped returns a swap of 0.5 ETH for 1,500 USDC on Base.
func swapped() *wire.SwapRecord {
	usdc, _ := chain.ParseAddress("0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", chain.EVM)
	return &wire.SwapRecord{
		Swap: order.Swap{ID: order.ID{0x5a}, At: order.At{Chain: 8453, Tx: chain.NewTxHash(make([]byte, 32))}, Fact: order.Swapped{
			TokenIn: chain.NativeCoin(chain.EVM), AmountIn: chain.NewAmount(5e17), TokenOut: usdc, AmountOut: chain.NewAmount(1_500_000_000),
		}},
		In: token.Token{Decimals: 18, Name: "Ether", Symbol: "ETH"}, Out: token.Token{Decimals: 6, Name: "USD Coin", Symbol: "USDC"},
	}
}
