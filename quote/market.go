package quote

import (
	"context"
	"math/big"
	"slices"
	"sync"
	"time"

	"crossgate/chain"
	"crossgate/token"
)

// market holds the prices of a swap's tokens and of the chain's coin.
type market struct {
	in, out, coin *big.Rat    // USD of a whole token; nil when no source knows it
	perWei        chain.Ratio // smallest units of the out token; see implied
}

// pricePatience is how long prices are waited for after the venues. Without them payouts are ranked, and no USD given.
const pricePatience = 700 * time.Millisecond

// startPrices starts reading the tokens' prices. The returned function waits for them and always returns the same.
func (t *trade) startPrices(ctx context.Context) func() market {
	r := t.request
	in := token.Key{Chain: r.Chain, Address: r.TokenIn}
	out := token.Key{Chain: r.Chain, Address: r.TokenOut}
	coin := token.Key{Chain: r.Chain, Address: chain.NativeCoin(t.Registry.Family(r.Chain))}
	read := make(chan market, 1)
	t.reads.Go(func() {
		usd := t.Tokens.USD(ctx, in, out, coin)
		read <- market{in: usd[in], out: usd[out], coin: usd[coin]}
	})
	return sync.OnceValue(func() market {
		patience := time.NewTimer(pricePatience)
		defer patience.Stop()
		select {
		case m := <-read:
			return m
		case <-patience.C:
		case <-ctx.Done():
		}
		return market{}
	})
}

// USD returns the value of an amount at the price of a whole token, rounded to six decimals; nil when the price is not
// known. Nothing is worth nothing.
func USD(price *big.Rat, amount chain.Amount, decimals uint8) *float64 {
	return inUSD(price, decimals)(amount)
}

// inUSD returns USD of amounts at one price.
func inUSD(price *big.Rat, decimals uint8) func(chain.Amount) *float64 {
	var millionths chain.Ratio // of a dollar, for a smallest unit
	if price != nil {
		millionths = chain.NewRatio(price.Num(), price.Denom(), 6-int(decimals))
	}
	return func(amount chain.Amount) *float64 {
		if price == nil && !amount.IsZero() {
			return nil
		}
		return new(millionths.Round(amount).Float64() / 1e6)
	}
}

// implied prices an unpriced token by the other side of the swap, at the quotes' median, and the coin as its own side.
// Of two quotes the higher one counts: a dry pool quotes next to nothing more often than a venue quotes absurdly much.
// From then on the coin is converted into the out token.
func (m market) implied(s Swap, candidates []*candidate) market {
	if (m.in == nil) != (m.out == nil) && len(candidates) > 0 {
		amounts := make([]chain.Amount, 0, len(candidates))
		for _, o := range candidates {
			amounts = append(amounts, o.quote.AmountOut)
		}
		slices.SortFunc(amounts, chain.Amount.Cmp)
		in, out := s.In.Amount.Units(s.In.Token.Decimals), amounts[len(amounts)/2].Units(s.Out.Token.Decimals)
		if in.Sign() > 0 && out.Sign() > 0 {
			if m.out == nil {
				m.out = new(big.Rat).Quo(in.Mul(in, m.in), out)
			} else {
				m.in = new(big.Rat).Quo(out.Mul(out, m.out), in)
			}
		}
	}
	switch {
	case m.coin != nil:
	case isCoin(s.Chain, s.In):
		m.coin = m.in
	case isCoin(s.Chain, s.Out):
		m.coin = m.out
	}
	if m.coin != nil && m.out != nil {
		rate := new(big.Rat).Quo(m.coin, m.out)
		m.perWei = chain.NewRatio(rate.Num(), rate.Denom(), int(s.Out.Token.Decimals)-int(s.Chain.Coin.Decimals))
	}
	return m
}

// inOut converts wei of the coin to smallest units of the out token, rounded down; zero if a price is missing.
func (m market) inOut(wei chain.Amount) chain.Amount { return m.perWei.Of(wei) }

// score ranks transactions by what the recipient gets and what that costs, both in the out token.
type score struct{ gain, cost chain.Amount }

// cmp is positive if a leaves more than b after costs.
func (a score) cmp(b score) int { return a.gain.Add(b.cost).Cmp(b.gain.Add(a.cost)) }
