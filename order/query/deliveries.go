package query

import (
	"context"

	"crossgate/order"
	"crossgate/order/ledger"
)

// Deliveries returns the orders among ids that the store knows to be delivered. ErrUnavailable if it cannot be read.
func (x *Index) Deliveries(ctx context.Context, ids []order.ID) (map[order.ID]order.Delivery, error) {
	orders, err := ledger.FoldedOrders(ctx, x.store, ids)
	known := make(map[order.ID]order.Delivery, len(orders))
	for id, o := range orders {
		if o.Fulfilled != nil {
			known[id] = order.Delivery{Give: o.GiveFinal, State: o.State, At: o.Fulfilled.At.Time}
		}
	}
	return known, unavailable(ctx, err)
}
