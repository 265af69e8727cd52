package ledger

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/store"
)

// Selection selects the orders of an audit or repair: those that match all of its fields. The zero value selects every
// order.
type Selection struct {
	Chain  chain.ID      // only what this chain reports about orders; zero: all chains
	Orders []order.ID    // may include orders unknown to the index
	Taker  chain.Address // unlock authority of orders that were delivered
	Since  uint64        // UNIX seconds; orders with an event at or after it
	Until  uint64        // UNIX seconds; orders with an event at or before it; zero: no bound

	StatesAlone bool // compare stored events with the contracts' states only, not with the contracts' transactions
}

// Selected returns the stored orders of a selection that have a side on a chain, ascending.
func (l Ledger) Selected(ctx context.Context, id chain.ID, of Selection) ([]order.ID, error) {
	if len(of.Orders) > 0 {
		return of.Orders, nil
	}
	isTimed, until := of.Since > 0 || of.Until > 0, cmp.Or(of.Until, math.MaxUint64)
	args := []any{int64(id), store.Number(of.Since), store.Number(until), store.Bit(isTimed)}
	const timed = ` AND block_time BETWEEN $2 AND $3`
	// Without a time bound this includes orders that lost all their events.
	query := `SELECT id FROM orders WHERE (give_chain = $1 OR take_chain = $1) AND ($4 = 0 OR EXISTS
		(SELECT 1 FROM events WHERE order_number = number` + timed + `))`
	if of.Taker.IsAbsent() { // includes events of orders whose terms are not known
		query += ` UNION SELECT id` + fromEvents + ` WHERE chain = $1` + timed
	} else {
		args = append(args, store.Blob(of.Taker.Bytes()))
		query += ` AND id IN (SELECT id FROM locks WHERE unlock_authority = $5
			UNION ALL SELECT id FROM listed WHERE unlock_authority > 0 AND unlock_authority = ` + fmt.Sprintf(store.AddressNumber, `$5`) + `)`
	}
	return queryIDs(ctx, l, query+` ORDER BY 1`, args...)
}
