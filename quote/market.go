package quote

import (
	"context"
	"math/big"
	"slices"
	"strconv"
	"sync"
	"time"

	"crossgate/chain"
	"crossgate/token"
)

// market is what a swap's tokens and the chain's coin are worth.
type market struct {
	in, out, coin worth
}

// worth is the USD price of one whole token; nil when no source knows it.
type worth struct{ usd *big.Rat }

// pricePatience is how long prices are waited for once the venues have answered. Without them venues are
// ranked by what they pay, and answers carry no USD values.
const pricePatience = 700 * time.Millisecond

// startPrices begins to ask what the request's tokens are worth; the function returned waits for the answer, and
// gives the same one from then on.
func (e *Estimator) startPrices(ctx context.Context, r Request) func() market {
	in := token.Key{Chain: r.Chain, Address: r.TokenIn}
	out := token.Key{Chain: r.Chain, Address: r.TokenOut}
	coin := token.Key{Chain: r.Chain, Address: chain.NativeCoin(e.registry.Family(r.Chain))}
	read := make(chan market, 1)
	go func() {
		usd := e.tokens.USD(ctx, in, out, coin)
		read <- market{in: worth{usd[in]}, out: worth{usd[out]}, coin: worth{usd[coin]}}
	}()
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

// of returns the USD value of an amount, rounded to the six decimals that the service writes; nil when it is not known.
// Nothing is worth nothing at any price.
func (w worth) of(amount chain.Amount, decimals uint8) *float64 {
	if amount.IsZero() {
		return new(float64)
	}
	if w.usd == nil {
		return nil
	}
	value := new(big.Rat).Mul(amount.Units(decimals), w.usd)
	rounded, err := strconv.ParseFloat(value.FloatString(6), 64)
	if err != nil { // beyond float64: no such price is meant
		return nil
	}
	return &rounded
}

func (w worth) side(s Side) Priced {
	return Priced{Side: s, USD: w.of(s.Amount, s.Token.Decimals)}
}

// implied is the market with prices that quotes imply for an unpriced token: it is worth the other side of the swap,
// at the median of the quotes. The chain's coin has the price of its own side.
func (m market) implied(s Swap, candidates []*candidate) market {
	if (m.in.usd == nil) != (m.out.usd == nil) && len(candidates) > 0 {
		amounts := make([]chain.Amount, 0, len(candidates))
		for _, o := range candidates {
			amounts = append(amounts, o.quote.AmountOut)
		}
		slices.SortFunc(amounts, chain.Amount.Cmp)
		in, out := s.In.Amount.Units(s.In.Token.Decimals), amounts[len(amounts)/2].Units(s.Out.Token.Decimals)
		if in.Sign() > 0 && out.Sign() > 0 {
			if m.out.usd == nil {
				m.out.usd = new(big.Rat).Quo(in.Mul(in, m.in.usd), out)
			} else {
				m.in.usd = new(big.Rat).Quo(out.Mul(out, m.out.usd), in)
			}
		}
	}
	switch {
	case m.coin.usd != nil:
	case isCoin(s.Chain, s.In):
		m.coin = m.in
	case isCoin(s.Chain, s.Out):
		m.coin = m.out
	}
	return m
}

// inOut converts wei of the chain's coin to smallest units of the out token, rounded down. It is nil when
// a price is missing.
func (m market) inOut(wei chain.Amount, s Swap) *big.Int {
	if m.coin.usd == nil || m.out.usd == nil || m.out.usd.Sign() == 0 {
		return nil
	}
	value := new(big.Rat).Mul(wei.Units(s.Chain.Coin.Decimals), m.coin.usd)
	value.Quo(value, m.out.usd)
	value.Quo(value, chain.NewAmount(1).Units(s.Out.Token.Decimals))
	return new(big.Int).Quo(value.Num(), value.Denom())
}
