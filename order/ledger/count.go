package ledger

import (
	"context"
	"database/sql"
	"fmt"

	"crossgate/chain"
)

// OrdersByChain counts the orders that give or take on each chain.
func (l Ledger) OrdersByChain(ctx context.Context) (map[chain.ID]uint64, error) {
	counted := map[chain.ID]uint64{}
	err := l.ForEachRow(ctx, func(rows *sql.Rows) error {
		var give, take chain.ID
		var orders uint64
		if err := rows.Scan(&give, &take, &orders); err != nil {
			return err
		}
		counted[give] += orders
		if take != give {
			counted[take] += orders
		}
		return nil
	}, `SELECT give_chain, take_chain, COUNT(*) FROM orders GROUP BY give_chain, take_chain`)
	if err != nil {
		return nil, fmt.Errorf("count orders by chain: %w", err)
	}
	return counted, nil
}

// Counted is how many orders were created on a chain.
type Counted struct {
	Orders uint64
	Locked uint64 // of them, delivered and not paid
}

// CountOrders counts orders by the chain that they were created on.
func (l Ledger) CountOrders(ctx context.Context) (map[chain.ID]Counted, error) {
	counted := map[chain.ID]Counted{}
	err := l.ForEachRow(ctx, func(rows *sql.Rows) error {
		var id chain.ID
		var c Counted
		err := rows.Scan(&id, &c.Orders, &c.Locked)
		counted[id] = c
		return err
	}, `SELECT give_chain, COUNT(*), SUM(CASE WHEN locked = $1 THEN 1 ELSE 0 END) FROM orders GROUP BY give_chain`, int64(locked))
	if err != nil {
		return nil, fmt.Errorf("count orders: %w", err)
	}
	return counted, nil
}
