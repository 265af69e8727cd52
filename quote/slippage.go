package quote

import (
	"slices"

	"github.com/shopspring/decimal"

	"crossgate/chain"
)

// Default slippage in percent, for the calmer half of a few blocks. The hosted service had 0.3 for USDC to ETH.
var (
	closeSlippage = decimal.RequireFromString("0.1") // two stables, or a coin and its wrapped form
	majorSlippage = decimal.RequireFromString("0.3") // deep markets on both sides
	otherSlippage = decimal.RequireFromString("1")   // anything else
)

// Symbols that identify a token's class. A counterfeit gains nothing: the tolerance becomes narrower.
var (
	stableSymbols = []string{
		"USDC", "USDC.e", "USDbC", "USDT", "USDT0", "USD₮0", "USDT.e", "DAI", "DAI.e", "xDAI", "WXDAI",
		"USDS", "USDe", "FDUSD", "PYUSD", "GHO", "crvUSD", "FRAX", "frxUSD", "LUSD", "TUSD", "USDP", "BUSD", "USD1",
	}
	majorSymbols = []string{"ETH", "WETH", "WETH.e", "BTC", "WBTC", "BTCB", "BTC.b", "cbBTC", "tBTC", "BNB", "WBNB", "SOL", "WSOL"}
)

// recommendedSlippage returns the slippage that suits the pair, in percent.
func recommendedSlippage(s Swap) decimal.Decimal {
	switch {
	case isCoin(s.Chain, s.In) && isCoin(s.Chain, s.Out), isStable(s.In) && isStable(s.Out):
		return closeSlippage
	case isDeep(s.Chain, s.In) && isDeep(s.Chain, s.Out):
		return majorSlippage
	}
	return otherSlippage
}

// A shortfall is recommended times driftFactor, rounded up to basis points, up to largestRecommended percent.
var (
	driftFactor        = decimal.New(15, -1)
	largestRecommended = decimal.NewFromInt(5)
)

// recommended returns the slippage that suits the pair, or more if the transaction paid less than was quoted.
func (b *built) recommended(s Swap) decimal.Decimal {
	usual := recommendedSlippage(s)
	missing := b.quote.AmountOut.Sub(b.payout.gross)
	if missing.IsZero() {
		return usual
	}
	quoted := decimal.NewFromBigInt(b.quote.AmountOut.Big(), 0)
	drift := decimal.NewFromBigInt(missing.Big(), 2).Mul(driftFactor).Div(quoted).RoundUp(2)
	return decimal.Max(usual, decimal.Min(drift, largestRecommended))
}

// isCoin reports whether side is the chain's coin, bare or wrapped.
func isCoin(c chain.Chain, side Side) bool {
	return side.Address.IsNative() || !c.WrappedCoin.IsAbsent() && side.Address == c.WrappedCoin
}

func isStable(side Side) bool { return slices.Contains(stableSymbols, side.Token.Symbol) }

func isDeep(c chain.Chain, side Side) bool {
	return isCoin(c, side) || isStable(side) || slices.Contains(majorSymbols, side.Token.Symbol)
}
