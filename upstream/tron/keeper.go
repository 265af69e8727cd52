package tron

import (
	"context"

	"crossgate/order"
)

var _ order.StateReader = (*Chain)(nil)

// Origin is block 0: java-tron tells no past state to search by. See order.StateReader.
func (c *Chain) Origin(ctx context.Context) (uint64, error) { return c.shared.Origin(ctx) }

// States returns what DlnSource keeps of orders; see order.StateReader.
func (c *Chain) States(ctx context.Context, ids []order.ID) ([]order.StoredState, error) {
	return c.shared.States(ctx, ids)
}
