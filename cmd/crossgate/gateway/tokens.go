package gateway

import (
	"context"
	"log/slog"

	"crossgate/order"
	"crossgate/order/index"
	"crossgate/token"
)

// tokenShelf keeps what tokens said of themselves beside the orders. Without a store, or when that fails,
// the chains are asked.
type tokenShelf struct {
	store *index.Store
	log   *slog.Logger
}

func (s *tokenShelf) recall(ctx context.Context, keys []token.Key) map[token.Key]token.Reading {
	if s.store == nil {
		return nil
	}
	known, err := s.store.Tokens(ctx, keys)
	if err != nil {
		s.log.WarnContext(ctx, "tokens are read from the chains again", "error", err)
	}
	return known
}

func (s *tokenShelf) remember(ctx context.Context, readings map[token.Key]token.Reading) {
	if s.store == nil {
		return
	}
	if err := s.store.KeepTokens(ctx, readings); err != nil {
		s.log.WarnContext(ctx, "tokens are not remembered", "error", err)
	}
}

// expectTokens has the metadata of an order's tokens read while its chains are asked about it.
func (p *parts) expectTokens(ctx context.Context, o *order.Order) {
	give, take := o.Terms.Give, o.Terms.Take
	keys := []token.Key{{Chain: give.Chain, Address: give.Token}, {Chain: take.Chain, Address: take.Token}}
	if o.Created != nil && o.Created.Fact.Preswap != nil {
		keys = append(keys, token.Key{Chain: give.Chain, Address: o.Created.Fact.Preswap.TokenIn})
	}
	p.tokens.Expect(ctx, keys...)
}
