package quote

import (
	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/token"
)

// Example returns a small swap of a chain's coin by its order contract, to probe a venue for quotes. It is never sent.
func Example(c chain.Chain, out token.Key) Swap {
	const little = 4 // digits below one coin
	amount := chain.NewAmount(1)
	for range max(c.Coin.Decimals, little) - little {
		amount = amount.MulDiv(10, 1)
	}
	return Swap{
		Chain: c, SlippagePercent: decimal.NewFromInt(1), GasPrice: chain.NewAmount(1e9),
		In:     Side{Address: chain.NativeCoin(c.Family), Token: token.Token{Decimals: c.Coin.Decimals, Symbol: c.Coin.Symbol}, Amount: amount},
		Out:    Side{Address: out.Address, Token: token.Token{Decimals: 6}},
		Sender: c.Contracts.DlnSource, Recipient: c.Contracts.DlnSource,
	}
}
