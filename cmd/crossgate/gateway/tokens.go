package gateway

import (
	"context"
	"errors"
	"log/slog"

	"crossgate/order"
	"crossgate/store"
	"crossgate/token"
)

// tokenShelf keeps the metadata of tokens in the database. Without one, or when it fails, the chains are read. A
// database that is unavailable says so in the log itself.
type tokenShelf struct {
	store *store.DB
	log   *slog.Logger
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
