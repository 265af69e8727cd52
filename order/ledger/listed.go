package ledger

import (
	"context"
	"errors"
	"fmt"

	"crossgate/order"
	"crossgate/order/list"
	"crossgate/store"
)

// Relist lists orders and swaps anew: orders as they are now, nil where nothing is known of their terms.
func Relist(ctx context.Context, tx *store.Tx, orders map[order.ID]*order.Order, swaps, withdrawn []order.Swap) error {
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

// ListedAtOnce is how many orders that are not listed yet are listed in one transaction.
const ListedAtOnce = 500

// ListSome lists some of the orders that are not, and reports whether others may be left.
func (l Ledger) ListSome(ctx context.Context, under store.Lease) (left bool, err error) {
	if found, err := l.Unlisted(ctx); err != nil || !found {
		return false, err
	}
	err = l.UpdateUnder(ctx, under, func(tx *store.Tx) error {
		ids, err := QueryIDs(ctx, tx, `SELECT DISTINCT order_id FROM unlisted ORDER BY order_id LIMIT $1`, ListedAtOnce)
		if err != nil {
			return err
		}
		orders, err := FoldedOrders(ctx, tx, ids)
		if err != nil {
			return err
		}
		rows := make([][]any, len(ids))
		for i, id := range ids {
			rows[i] = []any{id[:]}
			if _, hasTerms := orders[id]; !hasTerms {
				orders[id] = nil
			}
		}
		if err := Relist(ctx, tx, orders, nil, nil); err != nil {
			return err
		}
		left = len(ids) == ListedAtOnce
		return errors.Join(tx.ExecEach(ctx, `INSERT INTO uncounted (order_id) VALUES ($1)`, rows),
			tx.ExecEach(ctx, `DELETE FROM unlisted WHERE order_id = $1`, rows))
	})
	if err != nil {
		return false, fmt.Errorf("list orders: %w", err)
	}
	return left, nil
}

// Unlisted reports whether there are orders that are not listed as they are.
func (l Ledger) Unlisted(ctx context.Context) (found bool, err error) {
	_, err = l.QueryRow(ctx, []any{&found}, `SELECT EXISTS (SELECT 1 FROM unlisted)`)
	return found, err
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
