package solana

import (
	"cmp"
	"fmt"
	"slices"
)

// Orders are those created here, in the sequence of their creation.
func (c *Chain) Orders() []Order {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var found []giveOrder
	for _, content := range c.accounts {
		if g, ok := stateOf[giveOrder](content); ok {
			found = append(found, g)
		}
	}
	slices.SortFunc(found, func(a, b giveOrder) int {
		return cmp.Or(cmp.Compare(a.slot, b.slot), cmp.Compare(a.terms.Nonce, b.terms.Nonce))
	})
	orders := make([]Order, len(found))
	for i, g := range found {
		orders[i] = Order{g.terms, g.created}
	}
	return orders
}

// Given is the status of an order on its give side.
func (c *Chain) Given(id [32]byte) Status {
	c.mu.RLock()
	defer c.mu.RUnlock()
	g, _ := stateOf[giveOrder](c.accounts[giveOrderState(id)])
	return g.status
}

// Taken is the status of an order on its take side, and who may move it on or did so last.
func (c *Chain) Taken(id [32]byte) (Status, Key) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	o, _ := stateOf[takeOrder](c.accounts[takeOrderState(id)])
	return o.status, o.holder
}

// Message is what was sent about an order.
func (c *Chain) Message(id [32]byte) (Outbound, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	o, _ := stateOf[takeOrder](c.accounts[takeOrderState(id)])
	if o.status != SentUnlock && o.status != SentCancel {
		return Outbound{}, fmt.Errorf("no unlock or cancel of order %x has been sent", id)
	}
	return o.message, nil
}
