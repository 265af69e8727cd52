package tron

import (
	"context"

	"crossgate/chain"
	"crossgate/order"
)

var _ order.HistorySource = (*Chain)(nil)

// Events returns the order events of blocks from to to; see order.Source.
func (c *Chain) Events(ctx context.Context, from, to uint64) ([]order.Event, error) {
	return c.shared.Events(ctx, from, to)
}

// EventsIn returns the order events of one transaction; see order.Source.
func (c *Chain) EventsIn(ctx context.Context, tx chain.TxHash) ([]order.Event, error) {
	return c.shared.EventsIn(ctx, tx)
}

// History returns the events that one side of an order left; see order.HistorySource. Steps that came long
// after since take a search of all logs from then on.
func (c *Chain) History(ctx context.Context, id order.ID, side order.Side, since uint64) ([]order.Event, error) {
	return c.shared.History(ctx, id, side, since)
}
