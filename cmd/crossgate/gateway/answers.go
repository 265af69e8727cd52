package gateway

import (
	"context"
	"math/big"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/index"
	"crossgate/order/list"
	"crossgate/order/stats"
	"crossgate/proxy"
	"crossgate/quote"
	"crossgate/token"
)

// Every call of the server goes to the set that is current at that moment.
var (
	_ proxy.Orders = (*sets)(nil)
	_ proxy.Swaps  = (*sets)(nil)
	_ proxy.Tokens = (*sets)(nil)
)

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

// Deliveries implements proxy.Orders.
func (s *sets) Deliveries(ctx context.Context, ids []order.ID) (map[order.ID]index.Delivery, error) {
	now, done := s.use()
	defer done()
	return now.index.Deliveries(ctx, ids)
}

// List implements proxy.Orders.
func (s *sets) List(ctx context.Context, k list.Kind, f list.Filter, skip, take uint64) (index.List, index.Basis, error) {
	now, done := s.use()
	defer done()
	return now.index.List(ctx, k, f, skip, take)
}

// FindSwaps implements proxy.Orders.
func (s *sets) FindSwaps(ctx context.Context, id chain.ID, tx chain.TxHash) ([]index.FoundSwap, index.Basis, error) {
	now, done := s.use()
	defer done()
	return now.index.FindSwaps(ctx, id, tx)
}

// Unheard implements proxy.Orders.
func (s *sets) Unheard(tx chain.TxHash) []chain.ID {
	now, done := s.use()
	defer done()
	return now.index.Unheard(tx)
}

// Transaction implements proxy.Orders.
func (s *sets) Transaction(ctx context.Context, id chain.ID, tx chain.TxHash) (order.Transaction, error) {
	now, done := s.use()
	defer done()
	return now.index.Transaction(ctx, id, tx)
}

// Tellers implements proxy.Orders.
func (s *sets) Tellers(id chain.ID, tx chain.TxHash, block chain.Hash) []string {
	now, done := s.use()
	defer done()
	return now.index.Tellers(id, tx, block)
}

// SwapByID implements proxy.Orders.
func (s *sets) SwapByID(ctx context.Context, id order.ID) (index.FoundSwap, error) {
	now, done := s.use()
	defer done()
	return now.index.SwapByID(ctx, id)
}

// Daily implements proxy.Orders.
func (s *sets) Daily(ctx context.Context, from, to uint64) (days, before []order.DailyStatistics, basis index.Basis, err error) {
	now, done := s.use()
	defer done()
	return now.index.Daily(ctx, from, to)
}

// AllTime implements proxy.Orders.
func (s *sets) AllTime(ctx context.Context) (order.Statistics, index.Basis, error) {
	now, done := s.use()
	defer done()
	return now.index.AllTime(ctx)
}

// DeliveryTimes implements proxy.Orders.
func (s *sets) DeliveryTimes(ctx context.Context, from, to uint64) ([]order.DeliveryTimes, index.Basis, error) {
	now, done := s.use()
	defer done()
	return now.index.DeliveryTimes(ctx, from, to)
}

// Values implements proxy.Orders.
func (s *sets) Values(ctx context.Context, id order.ID) (v stats.Values, counted bool, err error) {
	now, done := s.use()
	defer done()
	return now.index.Values(ctx, id)
}

// Basis implements proxy.Orders.
func (s *sets) Basis() index.Basis {
	now, done := s.use()
	defer done()
	return now.index.Basis()
}

// Unready implements proxy.Orders.
func (s *sets) Unready() error { return s.cutOff.err() }

// Estimate implements proxy.Swaps.
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

func (s *sets) Listed(ctx context.Context, id chain.ID) []token.Listing {
	now, done := s.use()
	defer done()
	return now.parts.tokens.Listed(ctx, id)
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
