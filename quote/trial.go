package quote

import (
	"github.com/shopspring/decimal"

	"crossgate/chain"
	"crossgate/token"
)

// Trial is a swap of a little of a chain's coin, to see whether a venue gives a price at all. Nobody sends it: the
// order contract stands for the sender.
func Trial(c chain.Chain, out token.Key) Swap {
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
