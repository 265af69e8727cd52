package ledger

import (
	"context"
	"database/sql"

	"crossgate/chain"
	"crossgate/store"
)

// Counted is the number of orders that give on one chain and take on another.
type Counted struct {
	Give, Take chain.ID
	Orders     uint64
	Locked     uint64 // those delivered but not yet paid for
}

// CountOrders counts the orders between each pair of chains.
func (l Ledger) CountOrders(ctx context.Context) ([]Counted, error) {
	return store.All(ctx, l, func(rows *sql.Rows, c *Counted) error {
		return rows.Scan(&c.Give, &c.Take, &c.Orders, &c.Locked)
	}, `SELECT give_chain, take_chain, SUM(orders), SUM(locked) FROM (
			SELECT give_chain, take_chain, 1 AS orders, 0 AS locked FROM orders WHERE length(terms) > 0
			UNION ALL SELECT give_chain, take_chain, 0, 1 FROM locks WHERE locked = $1) AS counted GROUP BY give_chain, take_chain`, int64(locked))
}
