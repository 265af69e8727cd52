package orders

import (
	"cmp"
	"context"
	"errors"

	"crossgate/cache"
	"crossgate/cache/recent"
	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/query"
	"crossgate/proxy"
)

// txsByID remembers the transaction, a T, that is a step of an order or made a swap. An order read from its chains need
// not be in the index, and clients look it up by transaction first and by id afterwards.
type txsByID[T any] struct{ recent.Map[order.ID, T] }

func (c *txsByID[T]) remember(tx T, ids ...order.ID) {
	for _, id := range ids {
		c.Put(id, tx)
	}
}

// learn remembers orders that another replica found.
func (c *txsByID[T]) learn(tx T, bodies []proxy.Body) {
	for _, b := range bodies {
		c.remember(tx, b.Orders...)
	}
}

// ByID returns an order that the index has, or whose transaction was looked up lately; otherwise order.ErrNotFound
// with the basis of the search, query.ErrUnavailable or query.ErrEmpty.
func (s *Orders) ByID(ctx context.Context, id order.ID) (query.Found, error) {
	found, err := s.Options().Orders.ByID(ctx, id)
	tx, remembered := s.orderTxs.Get(id)
	if !remembered || !isUnindexed(err) {
		return found, err
	}
	orders, searched, err := s.Options().Orders.FindIn(ctx, tx, id)
	if err != nil || len(orders) == 0 {
		return query.Found{Basis: searched}, cmp.Or(err, order.ErrNotFound)
	}
	return orders[0], nil
}

// isUnindexed reports whether the chains may have what the index lacks.
func isUnindexed(err error) bool {
	return errors.Is(err, order.ErrNotFound) || errors.Is(err, query.ErrUnavailable) || errors.Is(err, query.ErrEmpty)
}

// mostChanges limits the changes that are purged one by one.
const mostChanges = 500

// OrdersChanged purges answers about changed orders; nil means all answers of the index (follow.Observer).
func (s *Orders) OrdersChanged(changes []order.Change) {
	if changes == nil || len(changes) > mostChanges {
		s.server.Drop(proxy.IndexTag)
		return
	}
	var keys []cache.Key
	for _, c := range changes {
		keys = append(keys, proxy.OrderTag(c.Order), orderKey(proxy.Subject, c.Order))
		remembered, _ := s.orderTxs.Get(c.Order) // for an order whose creation is not indexed
		if tx := cmp.Or(c.Creation, remembered); !tx.IsAbsent() {
			keys = append(keys, txKey(proxy.Subject, tx))
		}
		if !c.Taker.IsAbsent() {
			keys = append(keys, takerKey(proxy.Subject, c.Taker))
		}
	}
	s.server.Drop(keys...)
}

// BranchChanged purges unsettled answers about a chain (follow.Observer).
func (s *Orders) BranchChanged(id chain.ID) {
	s.server.Drop(proxy.BranchTag(id), proxy.BranchesTag)
}
