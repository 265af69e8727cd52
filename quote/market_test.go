package quote_test

import (
	"context"
	"math/big"
	"testing"

	"crossgate/chain"
	"crossgate/quote"
	"crossgate/token"
)

// pricedAlone returns a directory with a price for only one token, a dollar.
func pricedAlone(priced chain.Address) *token.Directory {
	return token.NewDirectory(token.DirectoryOptions{
		Registry: chain.Documented(),
		Own: map[token.Key]token.Token{
			{Chain: 1, Address: usdc}: {Decimals: 6, Name: "USD Coin", Symbol: "USDC"},
			{Chain: 1, Address: dai}:  {Decimals: 18, Name: "Dai Stablecoin", Symbol: "DAI"},
		},
		Prices: []token.PriceSource{func(context.Context, []token.Key) (map[token.Key]*big.Rat, error) {
			return map[token.Key]*big.Rat{{Chain: 1, Address: priced}: big.NewRat(1, 1)}, nil
		}},
	})
}

// TestTokensWithoutAPriceAreWorthWhatTheyAreSwappedFor uses three quotes, whose median determines the price.
func TestTokensWithoutAPriceAreWorthWhatTheyAreSwappedFor(t *testing.T) {
	venues := func(perInput ...uint64) []quote.Venue {
		var all []quote.Venue
		for i, rate := range perInput {
			all = append(all, &fakeVenue{name: string(rune('a' + i)), perInput: rate, gas: 200_000})
		}
		return all
	}
	gas := meter{price: quote.GasPrice{Expected: chain.NewAmount(1_000_000_000)}, gas: 100_000}
	priced := usdc
	ask := func(r quote.Request, perInput ...uint64) quote.Estimate {
		t.Helper()
		return estimate(t, quote.New(quote.Options{Registry: chain.Documented(), Venues: venues(perInput...), Tokens: pricedAlone(priced), Chains: ethereum(quote.Chain{Fees: gas})}), r)
	}
	// 100 USDC for 90, 100 and 125 DAI: one DAI is worth a dollar.
	got := ask(usdcToDai(), 900_000_000_000, 1_250_000_000_000, 1_000_000_000_000)
	if *got.In.USD != 100 || *got.Out.USD != 125 || *got.Compared[2].USD != 90 {
		t.Errorf("USD of %s in, %s out = %v, %v, of the last %v; want 100, 125 and 90", got.In.Amount, got.Out.Amount, *got.In.USD, *got.Out.USD, *got.Compared[2].USD)
	}
	if got = ask(usdcToDai(), 1, 1_000_000_000_000); *got.Out.USD != 100 {
		t.Errorf("USD out = %v with a dry pool beside, want 100", *got.Out.USD)
	}
	r := usdcToDai()
	r.TokenIn, r.TokenOut = dai, usdc
	r.AmountIn = amount("1")
	if got = ask(r, 2_000_000); *got.In.USD != 2 || *got.Out.USD != 2 {
		t.Errorf("USD = %v in, %v out, want 2 for the token that nobody prices", *got.In.USD, *got.Out.USD)
	}
	// 100 USDC for 0.05 of the coin, which also gives the cost of gas.
	r = usdcToDai()
	r.TokenOut = coin
	if got = ask(r, 500_000_000); *got.Out.USD != 100 || *got.Fee.USD != 0.24 {
		t.Errorf("USD of the coin out = %v, of the fee %v, want 100, and 0.24 for 120,000 gas", *got.Out.USD, *got.Fee.USD)
	}
	priced, r.TokenIn, r.TokenOut, r.AmountIn = dai, coin, dai, amount("1000000000000000000")
	if got = ask(r, 2000); *got.In.USD != 2000 || *got.Fee.USD != 0.24 {
		t.Errorf("USD of a coin in = %v, of the fee %v, want 2000 and 0.24", *got.In.USD, *got.Fee.USD)
	}
	// Where the coin alone has a price, venues are ranked by what they pay.
	priced = coin
	if got = ask(usdcToDai(), 900_000_000_000, 1_000_000_000_000); got.Out.USD != nil || got.Compared[0].Name != "b" || *got.Fee.USD != 0.00012 {
		t.Errorf("USD = %v out, %v of the fee, best %s; want none, a dollar for a coin, and the one that pays more", got.Out.USD, *got.Fee.USD, got.Compared[0].Name)
	}
}
