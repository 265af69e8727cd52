package quote

import (
	"testing"

	"crossgate/chain"
	"crossgate/token"
)

func TestRecommendedSlippageGoesByThePair(t *testing.T) {
	ethereum, _ := chain.Documented().Chain(chain.Ethereum)
	gnosis, _ := chain.Documented().Chain(100000002)
	contract := chain.NewAddress([]byte("a token's contract.."))
	named := func(symbol string) Side { return Side{Address: contract, Token: token.Token{Symbol: symbol}} }
	coin := Side{Address: chain.NativeCoin(chain.EVM), Token: token.Token{Symbol: "ETH"}}
	for _, row := range []struct {
		chain   chain.Chain
		in, out Side
		want    string
	}{
		{ethereum, named("USDC"), named("USDT"), "0.1"},
		{ethereum, coin, Side{Address: ethereum.WrappedCoin, Token: token.Token{Symbol: "WETH"}}, "0.1"},
		{gnosis, Side{Address: chain.NativeCoin(chain.EVM), Token: token.Token{Symbol: "xDAI"}}, named("USDC"), "0.1"},
		{ethereum, named("USDC"), coin, "0.3"},
		{ethereum, named("WBTC"), named("USDC.e"), "0.3"},
		{ethereum, named("PEPE"), named("USDC"), "1"},
		{ethereum, coin, named(""), "1"},
	} {
		got := recommendedSlippage(Swap{Chain: row.chain, In: row.in, Out: row.out})
		if got.String() != row.want {
			t.Errorf("slippage of %s to %s on %s = %s, want %s", row.in.Token.Symbol, row.out.Token.Symbol, row.chain.Name, got, row.want)
		}
	}
}
