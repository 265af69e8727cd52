package gateway

import (
	"context"
	"errors"
	"log/slog"
	"math/big"
	"time"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/order/stats"
	"crossgate/quote"
	"crossgate/quote/crosschain"
	"crossgate/store"
	"crossgate/token"
	"crossgate/token/catalog"
)

var executions = map[config.Execution]quote.Execution{
	config.ExecuteByRouter: quote.PreferRouter,
	config.ExecuteDirectly: quote.DirectOnly,
	config.ExecuteBest:     quote.BestWay,
}

// estimator answers swap requests on the chains that are read.
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

// orderEstimator answers requests for orders between the chains that are read.
func (p *parts) orderEstimator(c config.Config, swaps *quote.Estimator) *crosschain.Estimator {
	chains := make(map[chain.ID]crosschain.Chain, len(p.chains))
	for id, each := range p.chains {
		chains[id] = each.makes
	}
	return crosschain.New(crosschain.Options{
		Registry: p.readable(), Swaps: swaps, Tokens: p.tokens, Chains: chains, CostPercent: c.Swap.TakerCosts,
	})
}

// tokenShelf keeps the metadata of tokens in the database. Without one, or when it fails, the chains are read. A
// database that is unavailable says so in the log itself.
type tokenShelf struct {
	store    *store.DB
	catalog  *catalog.Catalog
	registry chain.Registry
	log      *slog.Logger
}

// mostOrdered is how many tokens of a chain are listed because orders were about them.
const mostOrdered = 2000

// listed returns the tokens of public lists on a chain, and those that orders were about, as far as their texts can be
// shown.
func (s *tokenShelf) listed(ctx context.Context, id chain.ID) map[chain.Address]token.Token {
	if s.catalog == nil {
		return nil
	}
	tokens := s.catalog.Tokens(id)
	ordered, err := s.store.OrderedTokens(ctx, id, mostOrdered)
	if err != nil && !errors.Is(err, store.ErrUnavailable) && ctx.Err() == nil {
		s.log.WarnContext(ctx, "tokens of orders are not listed", "error", err)
	}
	c, _ := s.registry.Chain(id)
	for address, t := range ordered {
		if _, known := tokens[address]; !known && catalog.CheckText(c, token.Key{Chain: id, Address: address}, t) == nil {
			tokens[address] = t
		}
	}
	return tokens
}

func (s *tokenShelf) recall(ctx context.Context, keys []token.Key) map[token.Key]token.Reading {
	if s.store == nil {
		return nil
	}
	known, err := s.store.Tokens(ctx, keys)
	if err != nil && !errors.Is(err, store.ErrUnavailable) {
		s.log.WarnContext(ctx, "stored token metadata is unavailable; reading it from the chains", "error", err)
	}
	return known
}

func (s *tokenShelf) remember(ctx context.Context, readings map[token.Key]token.Reading) {
	if s.store == nil {
		return
	}
	if err := s.store.SaveTokens(ctx, readings); err != nil && !errors.Is(err, store.ErrUnavailable) {
		s.log.WarnContext(ctx, "token metadata was not stored", "error", err)
	}
}

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
	prices, _ := p.past(ctx, at, keys) // what succeeded beside the failure
	return prices
}

// decimals are those of a token, not known when its contract does not return them.
func (p *parts) decimals(ctx context.Context, key token.Key) (decimals uint8, known bool) {
	tokens, err := p.tokens.Lookup(ctx, key.Chain, key.Address)
	if err != nil || p.tokens.IsSilent(key) {
		return 0, false
	}
	_, isRead := p.chains[key.Chain]
	return tokens[0].Decimals, isRead || tokens[0].Decimals > 0 // of chains that are not read, 0 stands for unknown
}
