package index

import (
	"context"
	"database/sql"
	"fmt"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/store"
)

// Delivery is what a taker delivered on an order for, and when.
type Delivery struct {
	At    uint64       // UNIX seconds
	Give  chain.Amount // what the taker is paid, smallest units of the give token
	State order.State
}

// Deliveries returns those of orders that the store knows as delivered. ErrUnavailable while it cannot be read.
func (x *Index) Deliveries(ctx context.Context, ids []order.ID) (map[order.ID]Delivery, error) {
	known, err := x.store.deliveries(ctx, ids)
	return known, unavailable(ctx, err)
}

func (s orderStore) deliveries(ctx context.Context, ids []order.ID) (known map[order.ID]Delivery, err error) {
	known = make(map[order.ID]Delivery, len(ids))
	err = s.ForEachRow(ctx, func(rows *sql.Rows) error {
		var id order.ID
		var d Delivery
		err := rows.Scan(store.HashColumn(&id), store.AmountColumn(&d.Give), &d.State, &d.At)
		known[id] = d
		return err
	}, `SELECT o.id, o.give_amount, o.state, MIN(e.block_time)
		FROM orders o JOIN events e ON e.order_id = o.id AND e.kind = 'fulfilled'
		WHERE o.id = ANY($1) GROUP BY o.id, o.give_amount, o.state`, store.HashKeys(ids))
	if err != nil {
		return nil, fmt.Errorf("read deliveries of %d orders: %w", len(ids), err)
	}
	return known, nil
}
