package ledger

import (
	"context"
	"database/sql"
	"fmt"

	"crossgate/chain"
	"crossgate/store"
)

// Counted is how many orders give on one chain and take on another.
type Counted struct {
	Give, Take chain.ID
	Orders     uint64
	Locked     uint64 // of them, delivered and not paid
}

// CountOrders counts the orders between each pair of chains.
func (l Ledger) CountOrders(ctx context.Context) (all []Counted, err error) {
	all, err = store.All(ctx, l, func(rows *sql.Rows, c *Counted) error {
		return rows.Scan(&c.Give, &c.Take, &c.Orders, &c.Locked)
	}, `SELECT give_chain, take_chain, COUNT(*), SUM(CASE WHEN locked = $1 THEN 1 ELSE 0 END) FROM orders
		WHERE length(terms) > 0 GROUP BY give_chain, take_chain`, int64(locked))
	if err != nil {
		return nil, fmt.Errorf("count orders: %w", err)
	}
	return all, nil
}
