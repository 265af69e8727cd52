package tron

import (
	"context"

	"crossgate/order"
)

var _ order.Keeper = (*Chain)(nil)

// Origin is block 0: java-tron tells no past state to search by. See order.Keeper.
func (c *Chain) Origin(ctx context.Context) (uint64, error) { return c.shared.Origin(ctx) }

// Kept returns what DlnSource keeps of orders; see order.Keeper.
func (c *Chain) Kept(ctx context.Context, ids []order.ID) ([]order.Kept, error) {
	return c.shared.Kept(ctx, ids)
}
