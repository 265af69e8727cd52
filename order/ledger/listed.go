package ledger

import (
	"context"

	"crossgate/order"
	"crossgate/order/list"
	"crossgate/store"
)

// relist lists orders and swaps anew: orders as they are now, nil where nothing is known of their terms.
func relist(ctx context.Context, tx *store.Tx, orders map[order.ID]*order.Order, swaps, withdrawn []order.Swap) error {
	rows := make(map[order.ID]*list.Row, len(orders)+len(swaps))
	for id, o := range orders {
		if rows[id] = nil; o != nil && o.Created != nil {
			rows[id] = list.OfOrder(o)
		}
	}
	for _, s := range withdrawn {
		rows[s.ID] = nil
	}
	for _, s := range swaps {
		rows[s.ID] = list.OfSwap(s)
	}
	return list.Replace(ctx, tx, rows)
}

// FoldedOrders returns those orders whose terms are known.
func FoldedOrders(ctx context.Context, q store.Rows, ids []order.ID) (map[order.ID]*order.Order, error) {
	events, err := EventsOfAll(ctx, q, ids)
	if err != nil {
		return nil, err
	}
	orders := make(map[order.ID]*order.Order, len(ids))
	for id, each := range events {
		if o, hasTerms := order.Fold(each); hasTerms {
			orders[id] = o
		}
	}
	return orders, nil
}
