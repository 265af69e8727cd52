package gateway

import (
	"context"
	"math/big"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/index"
	"crossgate/proxy"
	"crossgate/quote"
	"crossgate/token"
)

// Every call of the server goes to the set that is current at that moment.
var (
	_ proxy.Swaps  = (*sets)(nil)
	_ proxy.Tokens = (*sets)(nil)
)

func (s *sets) orders(ctx context.Context, tx chain.TxHash) ([]*order.Order, error) {
	now, done := s.use()
	defer done()
	return now.index.Find(ctx, tx)
}

func (s *sets) order(ctx context.Context, id order.ID) (*order.Order, error) {
	now, done := s.use()
	defer done()
	return now.index.ByID(ctx, id)
}

func (s *sets) lag() map[chain.ID]index.Lag {
	now, done := s.use()
	defer done()
	return now.index.Lag()
}

func (s *sets) settled(o *order.Order) bool {
	now, done := s.use()
	defer done()
	return now.index.Settled(o)
}

func (s *sets) unread(ctx context.Context, o *order.Order) []chain.ID {
	now, done := s.use()
	defer done()
	return now.index.Unread(ctx, o)
}

func (s *sets) locked(ctx context.Context, taker chain.Address) ([]order.LockedChain, error) {
	now, done := s.use()
	defer done()
	return now.index.Locked(ctx, taker)
}

func (s *sets) Estimate(ctx context.Context, r quote.Request) (quote.Estimate, error) {
	now, done := s.use()
	defer done()
	return now.estimator.Estimate(ctx, r)
}

func (s *sets) Serves(id chain.ID) bool {
	now, done := s.use()
	defer done()
	return now.estimator.Serves(id)
}

func (s *sets) Listed(id chain.ID) []chain.Address {
	now, done := s.use()
	defer done()
	return now.parts.tokens.Listed(id)
}

func (s *sets) Lookup(ctx context.Context, id chain.ID, addresses ...chain.Address) ([]token.Token, error) {
	now, done := s.use()
	defer done()
	return now.parts.tokens.Lookup(ctx, id, addresses...)
}

func (s *sets) USD(ctx context.Context, keys ...token.Key) map[token.Key]*big.Rat {
	now, done := s.use()
	defer done()
	return now.parts.tokens.USD(ctx, keys...)
}
