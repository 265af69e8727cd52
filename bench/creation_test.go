package bench

import (
	"context"
	"math/big"
	"testing"

	"crossgate/chain"
	"crossgate/quote"
	"crossgate/quote/crosschain"
	"crossgate/token"
)

// cheap are the fees of a chain on which gas costs 1 gwei.
type cheap struct{ quote.FeeSource }

func (cheap) GasPrice(context.Context, quote.Priority) (quote.GasPrice, error) {
	return quote.GasPrice{Expected: chain.NewAmount(1e9)}, nil
}

func (cheap) DataFee(context.Context, chain.Address, quote.Tx, uint64) (chain.Amount, error) {
	return chain.Amount{}, nil
}

// BenchmarkOrderEstimate prices orders that differ, each with a swap out of the reserve token at eight venues that answer at
// once: two comparisons, the arithmetic and a taker's costs. Beside waiting for venues and chains, this is all that a quote
// takes.
func BenchmarkOrderEstimate(b *testing.B) {
	swaps := estimator(stalls())
	b.Cleanup(swaps.Close)
	base, _ := chain.Documented().Chain(8453)
	ethereum, _ := chain.Documented().Chain(1)
	base.Reserves, ethereum.Reserves = map[string]chain.Address{"usd": account(5)}, map[string]chain.Address{"usd": account(1)}
	stable := token.Token{Decimals: 6, Name: "A stable coin", Symbol: "USDC"}
	registry := chain.NewRegistry(base, ethereum)
	one := crosschain.Chain{Fees: cheap{}, Charges: func(context.Context) (crosschain.Charges, error) {
		return crosschain.Charges{Fixed: chain.NewAmount(1e15), TransferBps: 4, Message: chain.NewAmount(1e15)}, nil
	}}
	e := crosschain.New(crosschain.Options{
		Registry: registry, Swaps: swaps, CostPercent: 100, Chains: map[chain.ID]crosschain.Chain{1: one, 8453: one},
		Tokens: token.NewDirectory(token.DirectoryOptions{
			Registry: registry,
			Own: map[token.Key]token.Token{
				{Chain: 8453, Address: account(5)}: stable, {Chain: 1, Address: account(1)}: stable, {Chain: 1, Address: account(2)}: stable,
			},
			Prices: []token.PriceSource{func(_ context.Context, keys []token.Key) (map[token.Key]*big.Rat, error) {
				prices := map[token.Key]*big.Rat{}
				for _, key := range keys {
					prices[key] = big.NewRat(1, 1)
				}
				return prices, nil
			}},
		}),
	})
	amount := uint64(1e9)
	b.ReportAllocs()
	for b.Loop() {
		amount++
		r := crosschain.Request{Give: 8453, Take: 1, TokenIn: account(5), TokenOut: account(2), AmountIn: chain.NewAmount(amount)}
		if _, err := e.Estimate(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
}
