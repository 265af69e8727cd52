package gateway

import (
	"context"
	"math/big"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/list"
	"crossgate/order/query"
	"crossgate/order/stats"
	"crossgate/quote"
	"crossgate/token"
)

// Every call of the server goes to the set that is current at that moment.

func (s *sets) Find(ctx context.Context, tx chain.TxHash) ([]query.Found, order.Basis, error) {
	return s.now().index.Find(ctx, tx)
}

func (s *sets) ByID(ctx context.Context, id order.ID) (query.Found, error) {
	return s.now().index.ByID(ctx, id)
}

func (s *sets) Locked(ctx context.Context, taker chain.Address) ([]order.LockedChain, order.Basis, error) {
	return s.now().index.Locked(ctx, taker)
}

func (s *sets) Deliveries(ctx context.Context, ids []order.ID) (map[order.ID]order.Delivery, error) {
	return s.now().index.Deliveries(ctx, ids)
}

func (s *sets) List(ctx context.Context, k list.Kind, f list.Filter, skip, take uint64) (query.List, order.Basis, error) {
	return s.now().index.List(ctx, k, f, skip, take)
}

func (s *sets) FindSwaps(ctx context.Context, id chain.ID, tx chain.TxHash) ([]query.FoundSwap, order.Basis, error) {
	return s.now().index.FindSwaps(ctx, id, tx)
}

func (s *sets) Late(tx chain.TxHash) error {
	return s.now().index.Late(tx)
}

func (s *sets) Tellers(id chain.ID, tx chain.TxHash, block chain.Hash) []string {
	return s.now().index.Tellers(id, tx, block)
}

func (s *sets) SwapByID(ctx context.Context, id order.ID) (query.FoundSwap, error) {
	return s.now().index.SwapByID(ctx, id)
}

func (s *sets) Daily(ctx context.Context, from, to uint64) (days, before []order.DailyStatistics, basis order.Basis, err error) {
	return s.now().index.Daily(ctx, from, to)
}

func (s *sets) AllTime(ctx context.Context) (order.Statistics, order.Basis, error) {
	return s.now().index.AllTime(ctx)
}

func (s *sets) DeliveryTimes(ctx context.Context, from, to uint64) ([]order.DeliveryTimes, order.Basis, error) {
	return s.now().index.DeliveryTimes(ctx, from, to)
}

func (s *sets) Values(ctx context.Context, id order.ID) (v stats.Values, counted bool, err error) {
	return s.now().index.Values(ctx, id)
}

func (s *sets) Basis() order.Basis {
	return s.now().index.Basis()
}

func (s *sets) Unready() error { return s.cutOff.err() }

func (s *sets) Estimate(ctx context.Context, r quote.Request) (quote.Estimate, error) {
	return s.now().estimator.Estimate(ctx, r)
}

func (s *sets) Serves(id chain.ID) bool {
	return s.now().estimator.Serves(id)
}

func (s *sets) Listed(ctx context.Context, id chain.ID) []token.Listing {
	return s.now().parts.tokens.Listed(ctx, id)
}

func (s *sets) Lookup(ctx context.Context, id chain.ID, addresses ...chain.Address) ([]token.Token, error) {
	return s.now().parts.tokens.Lookup(ctx, id, addresses...)
}

func (s *sets) USD(ctx context.Context, keys ...token.Key) map[token.Key]*big.Rat {
	return s.now().parts.tokens.USD(ctx, keys...)
}
