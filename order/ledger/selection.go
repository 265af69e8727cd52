package ledger

import (
	"context"
	"fmt"
	"strings"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/store"
)

// Selection says which orders an audit or a repair is about: those that all of its members hold of. The zero value
// stands for every order.
type Selection struct {
	Chain  chain.ID      // what this chain says of orders, and nothing else; zero: what every chain does
	Orders []order.ID    // also such as the index has never heard of
	Taker  chain.Address // unlock authority of orders that were delivered
	Since  uint64        // UNIX seconds; with an event then or later
	Until  uint64        // UNIX seconds; with an event then or before, zero: at any time

	StatesAlone bool // stored events are held against the contracts' states, not against their transactions
}

// Selected lists the stored orders of a selection that have a side on a chain, in ascending order.
func (l Ledger) Selected(ctx context.Context, id chain.ID, of Selection) (ids []order.ID, err error) {
	if len(of.Orders) > 0 {
		return of.Orders, nil
	}
	q := selectionQuery{args: []any{int64(id)}}
	taken, timed := "", ""
	if !of.Taker.IsAbsent() {
		taker := " = " + q.arg(store.Blob(of.Taker.Bytes()))
		taken = "id IN (SELECT id FROM orders WHERE unlock_authority" + taker +
			" UNION ALL SELECT id FROM listed WHERE length(unlock_authority) > 0 AND unlock_authority" + taker + ")"
	}
	if of.Since > 0 {
		timed += " AND block_time >= " + q.arg(int64(of.Since))
	}
	if of.Until > 0 {
		timed += " AND block_time <= " + q.arg(int64(of.Until))
	}
	var text strings.Builder
	text.WriteString(`SELECT id FROM orders WHERE (give_chain = $1 OR take_chain = $1)`)
	if taken != "" {
		text.WriteString(` AND ` + taken)
	}
	if timed != "" {
		text.WriteString(` AND EXISTS (SELECT 1 FROM events WHERE ` + orderPrefix + ` = ` + store.PrefixOf(`orders.id`) + ` AND order_id = orders.id` + timed + `)`)
	}
	if taken == "" { // events of orders whose terms are not known
		text.WriteString(` UNION SELECT order_id FROM events WHERE chain = $1` + timed)
	}
	text.WriteString(` ORDER BY 1`)
	if ids, err = queryIDs(ctx, l, text.String(), q.args...); err != nil {
		return nil, fmt.Errorf("select orders of chain %d: %w", id, err)
	}
	return ids, nil
}

// selectionQuery collects a statement's arguments.
type selectionQuery struct{ args []any }

// arg returns the placeholder of one more.
func (q *selectionQuery) arg(value any) string {
	q.args = append(q.args, value)
	return fmt.Sprintf("$%d", len(q.args))
}
