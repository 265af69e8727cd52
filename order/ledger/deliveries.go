package ledger

import (
	"context"
	"database/sql"
	"fmt"

	"crossgate/order"
	"crossgate/store"
)

func (l Ledger) Deliveries(ctx context.Context, ids []order.ID) (known map[order.ID]order.Delivery, err error) {
	known = make(map[order.ID]order.Delivery, len(ids))
	err = l.ForEachRow(ctx, func(rows *sql.Rows) error {
		var id order.ID
		var d order.Delivery
		err := rows.Scan(store.HashColumn(&id), store.AmountColumn(&d.Give), &d.State, &d.At)
		known[id] = d
		return err
	}, `SELECT o.id, o.give_amount, o.state, MIN(block_time)
		FROM orders o JOIN events ON `+orderPrefix+` = substr(o.id, 1, 7) AND order_id = o.id AND kind = 'fulfilled'
		WHERE o.id = ANY($1) GROUP BY o.id, o.give_amount, o.state`, store.HashKeys(ids))
	if err != nil {
		return nil, fmt.Errorf("read deliveries of %d orders: %w", len(ids), err)
	}
	return known, nil
}
