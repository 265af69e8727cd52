package ledger

import (
	"context"
	"encoding/json"
	"slices"

	"crossgate/order"
)

// changesOf lists what answers depend on the orders now, or do or did on events that were added or withdrawn.
func changesOf(folded map[order.ID]*order.Order, events []order.Event) []order.Change {
	changes := make(map[order.ID]order.Change, len(folded))
	for _, e := range events {
		changed := changes[e.Order]
		changed.Order = e.Order
		switch fact := e.Fact.(type) {
		case order.Created, order.Swapped:
			changed.Creation = e.At.Tx
		case order.Fulfilled:
			changed.Taker = fact.UnlockAuthority
		}
		changes[e.Order] = changed
	}
	for id, o := range folded {
		changed := changes[id]
		changed.Order = id
		if o != nil && o.Created != nil {
			changed.Creation = o.Created.At.Tx
		}
		if o != nil && o.Fulfilled != nil {
			changed.Taker = o.Fulfilled.Fact.UnlockAuthority
		}
		changes[id] = changed
	}
	all := make([]order.Change, 0, len(changes))
	for _, changed := range changes {
		all = append(all, changed)
	}
	slices.SortFunc(all, func(a, b order.Change) int { return CompareIDs(a.Order, b.Order) })
	return all
}

// Channel has the changes that replicas notify each other of, as JSON: null stands for any. A notification has
// changesEach of them, to stay below PostgreSQL's limit; more than changesNamed become one that names none.
const (
	Channel      = "crossgate_orders"
	changesEach  = 30
	changesNamed = 600
)

// announce notifies the other replicas of changes when the transaction is committed.
func (tx *Tx) announce(ctx context.Context, changes []order.Change) error {
	if len(changes) > changesNamed {
		return tx.Notify(ctx, Channel, "null")
	}
	var payloads []string
	for part := range slices.Chunk(changes, changesEach) {
		text, err := json.Marshal(part)
		if err != nil {
			return err
		}
		payloads = append(payloads, string(text))
	}
	return tx.Notify(ctx, Channel, payloads...)
}
