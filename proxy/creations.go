package proxy

import (
	"context"
	"errors"
	"slices"
	"sync"

	"crossgate/chain"
	"crossgate/order"
)

// creations remembers the transactions that created orders, for the newest orders that were remembered: at
// least creationsKept of them and at most twice as many. An order that the chains told of need not be in
// the index, and clients ask for the ids of a transaction's orders first and for the orders by id then.
type creations struct {
	mu         sync.Mutex
	young, old map[order.ID]chain.TxHash
}

const creationsKept = 1 << 14

func (c *creations) remember(tx chain.TxHash, ids ...order.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range ids {
		if c.young == nil || len(c.young) >= creationsKept {
			c.young, c.old = make(map[order.ID]chain.TxHash), c.young
		}
		c.young[id] = tx
	}
}

// learn remembers what another replica found.
func (c *creations) learn(tx chain.TxHash, pages []page) {
	for _, p := range pages {
		c.remember(tx, p.orders...)
	}
}

func (c *creations) of(id order.ID) (tx chain.TxHash, remembered bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if tx, remembered = c.young[id]; !remembered {
		tx, remembered = c.old[id]
	}
	return tx, remembered
}

// ordersOf returns the orders that a transaction created, at least one.
func (s *Server) ordersOf(ctx context.Context, tx chain.TxHash) ([]*order.Order, error) {
	orders, err := s.options.Orders(ctx, tx)
	if err != nil {
		return nil, err
	}
	if len(orders) == 0 {
		return nil, order.ErrNoOrder
	}
	for _, o := range orders {
		s.creations.remember(tx, o.ID)
	}
	return orders, nil
}

// orderByID returns the order with an id: order.ErrNotFound when neither the index knows it nor its
// transaction was asked for lately.
func (s *Server) orderByID(ctx context.Context, id order.ID) (*order.Order, error) {
	found, err := s.options.Order(ctx, id)
	if !errors.Is(err, order.ErrNotFound) {
		return found, err
	}
	tx, remembered := s.creations.of(id)
	if !remembered {
		return nil, err
	}
	orders, err := s.options.Orders(ctx, tx)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(orders, func(o *order.Order) bool { return o.ID == id })
	if at < 0 {
		return nil, order.ErrNotFound
	}
	return orders[at], nil
}
