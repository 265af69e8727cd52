package gateway

import (
	"context"
	"log/slog"
	"math/big"
	"time"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/order/stats"
	"crossgate/quote"
	"crossgate/quote/crosschain"
	"crossgate/token"
)

var executions = map[config.Execution]quote.Execution{
	config.ExecuteByRouter: quote.PreferRouter,
	config.ExecuteDirectly: quote.DirectOnly,
	config.ExecuteBest:     quote.BestWay,
}

// estimator returns the estimator of swaps on the chains that have endpoints.
func (p *parts) estimator(c config.Config, log *slog.Logger, history *quote.History) *quote.Estimator {
	chains, fees := make(map[chain.ID]quote.Chain, len(c.Chains)), c.Fees()
	for _, each := range c.Chains {
		swaps := p.chains[each.ID].swaps
		swaps.Execution = executions[c.Swap.Execution]
		swaps.AllowUnsimulated = c.Swap.Unsimulated == config.AllowUnsimulated
		if fee, charged := fees[each.ID]; charged {
			swaps.Operator = quote.NewAffiliate(fee.Bps, fee.Recipient)
		}
		chains[each.ID] = swaps
	}
	return quote.New(quote.Options{
		Registry: p.registry, Venues: p.venues, Tokens: p.tokens, Chains: chains, Window: c.Swap.Window,
		History: history, Logger: log,
	})
}

// orderEstimator returns the estimator of orders between the chains that have endpoints.
func (p *parts) orderEstimator(c config.Config, swaps *quote.Estimator) *crosschain.Estimator {
	chains := make(map[chain.ID]crosschain.Chain, len(p.chains))
	for id, each := range p.chains {
		chains[id] = each.makes
	}
	return crosschain.New(crosschain.Options{
		Registry: p.readable(), Swaps: swaps, Tokens: p.tokens, Chains: chains, CostPercent: c.Swap.TakerCosts,
	})
}

// Within presentFor the present price is used; pastPatience bounds the wait for the prices of one past time.
const (
	presentFor   = 2 * time.Hour
	pastPatience = 10 * time.Second
)

// unitPrices implements stats.PriceSource. It returns the USD price of one smallest unit of each token at its time;
// prices that cannot be fetched are absent.
func (p *parts) unitPrices(ctx context.Context, wanted []stats.Priced) map[stats.Priced]*big.Rat {
	byTime := make(map[uint64][]token.Key)
	for _, each := range wanted {
		byTime[each.At] = append(byTime[each.At], token.Key{Chain: each.Chain, Address: each.Token})
	}
	prices := make(map[stats.Priced]*big.Rat, len(wanted))
	for at, keys := range byTime {
		for key, usd := range p.pricesAt(ctx, time.Unix(int64(at), 0), keys) {
			if decimals, known := p.decimals(ctx, key); known {
				prices[stats.Priced{Chain: key.Chain, Token: key.Address, At: at}] = new(big.Rat).Mul(usd, chain.NewAmount(1).Units(decimals))
			}
		}
	}
	return prices
}

func (p *parts) pricesAt(ctx context.Context, at time.Time, keys []token.Key) map[token.Key]*big.Rat {
	if time.Since(at) < presentFor {
		return p.tokens.USD(ctx, keys...)
	}
	if p.past == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, pastPatience)
	defer cancel()
	prices, _ := p.past(ctx, at, keys) // with an error it still returns those that succeeded
	return prices
}

// decimals returns a token's decimals, unknown if its contract does not return them.
func (p *parts) decimals(ctx context.Context, key token.Key) (decimals uint8, known bool) {
	tokens, err := p.tokens.Lookup(ctx, key.Chain, key.Address)
	if err != nil || p.tokens.IsSilent(key) {
		return 0, false
	}
	_, isRead := p.chains[key.Chain]
	return tokens[0].Decimals, isRead || tokens[0].Decimals > 0 // on chains without endpoints, 0 means unknown
}
