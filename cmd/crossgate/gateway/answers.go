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

var _ proxy.Orders = (*sets)(nil)

// Calls of the HTTP face, each to the set that is current when it begins.

// Find implements proxy.Orders.
func (s *sets) Find(ctx context.Context, tx chain.TxHash) ([]index.Found, index.Basis, error) {
	now, done := s.use()
	defer done()
	return now.index.Find(ctx, tx)
}

// ByID implements proxy.Orders.
func (s *sets) ByID(ctx context.Context, id order.ID) (index.Found, error) {
	now, done := s.use()
	defer done()
	return now.index.ByID(ctx, id)
}

// Locked implements proxy.Orders.
func (s *sets) Locked(ctx context.Context, taker chain.Address) ([]order.LockedChain, index.Basis, error) {
	now, done := s.use()
	defer done()
	return now.index.Locked(ctx, taker)
}

// Basis implements proxy.Orders.
func (s *sets) Basis() index.Basis {
	now, done := s.use()
	defer done()
	return now.index.Basis()
}

func (s *sets) estimate(ctx context.Context, r quote.Request) (quote.Estimate, error) {
	now, done := s.use()
	defer done()
	return now.estimator.Estimate(ctx, r)
}

func (s *sets) serves(id chain.ID) bool {
	now, done := s.use()
	defer done()
	return now.estimator.Serves(id)
}

func (s *sets) listed(id chain.ID) []chain.Address {
	now, done := s.use()
	defer done()
	return now.parts.tokens.Listed(id)
}

func (s *sets) tokens(ctx context.Context, id chain.ID, addresses ...chain.Address) ([]token.Token, error) {
	now, done := s.use()
	defer done()
	return now.parts.tokens.Lookup(ctx, id, addresses...)
}

func (s *sets) usd(ctx context.Context, keys ...token.Key) map[token.Key]*big.Rat {
	now, done := s.use()
	defer done()
	return now.parts.tokens.USD(ctx, keys...)
}
