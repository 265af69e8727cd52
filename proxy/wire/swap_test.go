package wire

import (
	"testing"

	"crossgate/chain"
	"crossgate/quote"
	"crossgate/token"
)

// recordedSwap is the recorded swap of 5 USDC to ETH on Ethereum (2026-09-09), with what its recorder
// trimmed made up.
func recordedSwap(t testing.TB) quote.Estimate {
	ethereum, _ := documented.Chains.Chain(chain.Ethereum)
	return quote.Estimate{
		Chain: ethereum,
		In: quote.Priced{Side: quote.Side{
			Address: chain.NewAddress(unhex(t, "a0b86991c6218b36c1d19d4a2e9eb0ce3606eb48")),
			Token:   token.Token{Decimals: 6, Name: "USD Coin", Symbol: "USDC"},
			Amount:  amount(t, "5000000"),
		}, USD: new(5.0)},
		Out: quote.Priced{Side: quote.Side{
			Address: chain.NativeCoin(chain.EVM),
			Token:   token.Token{Decimals: 18, Name: "Ethereum", Symbol: "ETH"},
			Amount:  amount(t, "1999122712146377"),
		}, USD: new(4.9916524)},
		MinOut:              amount(t, "1993120542274040"),
		SlippagePercent:     0.3,
		RecommendedSlippage: 0.3,
		Compared: []quote.Compared{
			{Name: "kyber", Amount: amount(t, "1999122712146377"), USD: new(4.991652), ImageURL: "https://logos.example/kyber.svg"},
			{Name: "velora", Amount: amount(t, "1993325000000000"), USD: new(4.977176), PriceDrop: 0.29},
		},
		Tx: quote.Tx{
			To:   ethereum.Contracts.Router,
			Data: unhex(t, "258c16ee"),
		},
		ProtocolFee:    amount(t, "1600578632623"),
		ProtocolFeeUSD: new(0.003993),
		Fee: &quote.Fee{
			Total: amount(t, "439326826112330"), GasLimit: 383410, USD: new(1.0960871),
			Price: quote.GasPrice{Expected: amount(t, "1145840813"), Base: amount(t, "145840813"), MaxFee: amount(t, "1291681626"), MaxPriority: amount(t, "1000000000")},
		},
		Costs: []quote.Cost{
			{Type: "SingleChainSwapProtocolFee", AmountIn: amount(t, "2000723290779000"), AmountOut: amount(t, "1999122712146377"), Fee: amount(t, "1600578632623"), FeeBps: "8"},
			{Type: "SingleChainSwapEstimatedSlippage", AmountIn: amount(t, "1999122712146377"), AmountOut: amount(t, "1993120542274040"), Fee: amount(t, "6002169872337"), FeeBps: "30"},
		},
	}
}

func TestAppendSwap(t *testing.T) {
	swap := recordedSwap(t)
	checkGolden(t, "swap", documented.AppendSwap(nil, swap))
	swap.MaxBalance = true
	checkGolden(t, "swap_whole", documented.AppendSwap(nil, swap))
}

func TestAppendSwapOfALegacyChainWithoutPrices(t *testing.T) {
	swap := recordedSwap(t)
	swap.In.USD, swap.Out.USD, swap.ProtocolFeeUSD = nil, nil, nil
	swap.ProtocolFee = chain.Amount{}
	swap.Compared, swap.Costs = nil, nil
	swap.Fee.Price = quote.GasPrice{Expected: amount(t, "3000000000"), Legacy: true}
	checkGolden(t, "swap_legacy", documented.AppendSwap(nil, swap))
	swap.Fee = nil
	checkGolden(t, "swap_without_fee", documented.AppendSwap(nil, swap))
}

// TestAppendSwapOfEachFamily is of all that the sender has, with a fee of 15000 in the coin's smallest units.
func TestAppendSwapOfEachFamily(t *testing.T) {
	swap := recordedSwap(t)
	swap.MaxBalance = true
	swap.Fee = &quote.Fee{
		Total: amount(t, "15000"), GasLimit: 120, Beside: amount(t, "3000"), USD: new(0.5),
		Price: quote.GasPrice{Expected: amount(t, "100"), Legacy: true},
	}
	swap.Chain, _ = documented.Chains.Chain(chain.Tron)
	checkGolden(t, "swap_tron", documented.AppendSwap(nil, swap))

	swap.Fee.GasLimit, swap.Fee.Priority = 200_000, amount(t, "12000")
	swap.Fee.Price = quote.GasPrice{Bid: amount(t, "60000")}
	swap.Chain, _ = documented.Chains.Chain(chain.Solana)
	swap.In.Address, swap.Out.Address = chain.NativeCoin(chain.SVM), swap.Chain.WrappedCoin
	swap.Tx = quote.Tx{Data: []byte{1, 2, 3}}
	checkGolden(t, "swap_solana", documented.AppendSwap(nil, swap))
}

func BenchmarkAppendSwap(b *testing.B) {
	swap := recordedSwap(b)
	var body []byte
	b.ReportAllocs()
	for b.Loop() {
		body = documented.AppendSwap(body[:0], swap)
	}
}
