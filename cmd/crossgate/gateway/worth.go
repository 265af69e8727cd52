package gateway

import (
	"context"
	"math/big"
	"time"

	"crossgate/order/stats"
	"crossgate/token"
)

// The present price is that of the last hours; pastPatience bounds how long prices of one time are waited for.
const (
	presentFor   = 2 * time.Hour
	pastPatience = 10 * time.Second
)

// unitPrices is an stats.PriceSource: what one smallest unit of tokens was worth at some times. A source that fails
// knows nothing.
func (p *parts) unitPrices(ctx context.Context, wanted []stats.Priced) map[stats.Priced]*big.Rat {
	byTime := make(map[uint64][]token.Key)
	for _, each := range wanted {
		byTime[each.At] = append(byTime[each.At], token.Key{Chain: each.Chain, Address: each.Token})
	}
	prices := make(map[stats.Priced]*big.Rat, len(wanted))
	for at, keys := range byTime {
		for key, usd := range p.pricesAt(ctx, time.Unix(int64(at), 0), keys) {
			if decimals, known := p.decimals(ctx, key); known {
				prices[stats.Priced{Chain: key.Chain, Token: key.Address, At: at}] = new(big.Rat).Quo(usd, wholeToken(decimals))
			}
		}
	}
	return prices
}

// pricesAt are the prices of whole tokens at a time.
func (p *parts) pricesAt(ctx context.Context, at time.Time, keys []token.Key) map[token.Key]*big.Rat {
	if time.Since(at) < presentFor {
		return p.tokens.USD(ctx, keys...)
	}
	if p.past == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, pastPatience)
	defer cancel()
	prices, _ := p.past(ctx, at, keys) // what succeeded beside the failure
	return prices
}

// decimals are those of a token, not known when its contract does not tell them.
func (p *parts) decimals(ctx context.Context, key token.Key) (decimals uint8, known bool) {
	tokens, err := p.tokens.Lookup(ctx, key.Chain, key.Address)
	if err != nil || p.tokens.IsSilent(key) {
		return 0, false
	}
	_, isRead := p.chains[key.Chain]
	return tokens[0].Decimals, isRead || tokens[0].Decimals > 0 // of chains that are not read, 0 stands for unknown
}

func wholeToken(decimals uint8) *big.Rat {
	return new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil))
}
