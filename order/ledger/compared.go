package ledger

import (
	"context"
	"crypto/rand"
	"slices"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/store"
)

// Side is one side of an order.
type Side struct {
	Order order.ID
	Side  order.Side
}

// NoteCompared records sides that are complete and agree with the state of the contracts. A new event of the order
// clears the record.
func (l Ledger) NoteCompared(ctx context.Context, under store.Lease, sides []Side) error {
	if len(sides) == 0 {
		return nil
	}
	noted, ended := make([][]any, len(sides)), make([][]any, len(sides))
	for i, each := range sides {
		ended[i] = []any{store.Prefix(each.Order[:]), each.Order[:]}
		noted[i] = append(slices.Clone(ended[i]), int(each.Side), 3-int(each.Side))
	}
	of := ` WHERE order_number = (SELECT number FROM orders WHERE ` + idPrefix + ` = $1 AND id = $2) AND compared `
	return l.UpdateUnder(ctx, under, func(tx *store.Tx) error {
		return tx.ExecAll(ctx,
			store.Step{Statement: `UPDATE uncompared SET compared = compared + $3` + of + `IN (0, $4)`, Rows: noted},
			store.Step{Statement: `DELETE FROM uncompared` + of + `= 3`, Rows: ended})
	})
}

// Uncompared returns up to most orders of a chain that are yet to be compared with its contracts, following after, and
// the number of all such orders.
func (l Ledger) Uncompared(ctx context.Context, id chain.ID, after order.ID, most int) (ids []order.ID, all int, err error) {
	const due = ` FROM uncompared JOIN orders ON number = order_number
		WHERE (give_chain = $1 AND compared IN (0, 2) OR take_chain = $1 AND compared IN (0, 1))`
	if _, err = l.QueryRow(ctx, []any{&all}, `SELECT COUNT(*)`+due, int64(id)); err == nil {
		ids, err = queryIDs(ctx, l, `SELECT id`+due+` AND order_number > COALESCE((SELECT number FROM orders
			WHERE `+idPrefix+` = $4 AND id = $2), 0) ORDER BY order_number LIMIT $3`, int64(id), after[:], most, store.Prefix(after[:]))
	}
	return ids, all, err
}

// WithoutTerms returns up to most orders of a chain that was read from its first block, whose events have no terms:
// their creation or fulfilment is missing.
func (l Ledger) WithoutTerms(ctx context.Context, id chain.ID, most int) ([]order.ID, error) {
	return queryIDs(ctx, l, `SELECT id FROM orders WHERE length(terms) = 0
		AND EXISTS (SELECT 1 FROM checkpoints WHERE chain = $1 AND first_block = 0)
		AND EXISTS (SELECT 1 FROM events WHERE order_number = number AND chain = $1) LIMIT $2`, int64(id), most)
}

// Sampled returns up to most randomly chosen orders of a chain that were compared.
func (l Ledger) Sampled(ctx context.Context, id chain.ID, most int) ([]order.ID, error) {
	var from order.ID
	if _, err := rand.Read(from[:]); err != nil {
		return nil, err
	}
	return queryIDs(ctx, l, `SELECT id FROM orders LEFT JOIN uncompared ON order_number = number WHERE `+idPrefix+` > $2
		AND (give_chain = $1 AND COALESCE(compared, 3) IN (1, 3) OR take_chain = $1 AND COALESCE(compared, 3) > 1)
		ORDER BY `+idPrefix+` LIMIT $3`, int64(id), store.Prefix(from[:]), most)
}
