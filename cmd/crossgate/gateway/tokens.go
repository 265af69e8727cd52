package gateway

import (
	"context"
	"errors"
	"log/slog"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/store"
	"crossgate/token"
	"crossgate/token/catalog"
)

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

// expectTokens starts reading the metadata of an order's tokens while the order itself is still being read.
func (p *parts) expectTokens(ctx context.Context, o *order.Order) {
	give, take := o.Terms.Give, o.Terms.Take
	keys := []token.Key{{Chain: give.Chain, Address: give.Token}, {Chain: take.Chain, Address: take.Token}}
	if o.Created != nil && o.Created.Fact.Preswap != nil {
		keys = append(keys, token.Key{Chain: give.Chain, Address: o.Created.Fact.Preswap.TokenIn})
	}
	p.tokens.Expect(ctx, keys...)
}
