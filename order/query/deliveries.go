package query

import (
	"context"

	"crossgate/order"
)

// Deliveries returns those of orders that the store knows as delivered. ErrUnavailable while it cannot be read.
func (x *Index) Deliveries(ctx context.Context, ids []order.ID) (map[order.ID]order.Delivery, error) {
	known, err := x.store.Deliveries(ctx, ids)
	return known, unavailable(ctx, err)
}
