package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"crossgate/order"
	"crossgate/store"
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

// A notification holds changesEach changes, to stay below PostgreSQL's limit. More than changesTold changes become one
// notification: anything may have changed.
const (
	Channel     = "crossgate_orders"
	changesEach = 30
	changesTold = 600
	everything  = "*"
)

// announce notifies the other replicas of changes when the transaction is committed.
func (s Ledger) announce(ctx context.Context, tx *store.Tx, changes []order.Change) error {
	if !s.IsReplicated() {
		return nil // nobody else to notify
	}
	if len(changes) > changesTold {
		return tx.Notify(ctx, Channel, everything)
	}
	var payloads []string
	for part := range slices.Chunk(changes, changesEach) {
		payloads = append(payloads, EncodeChanges(part))
	}
	return tx.Notify(ctx, Channel, payloads...)
}

// EncodeChanges writes a change per line: id, creation, taker, with - for what is absent.
func EncodeChanges(changes []order.Change) string {
	var text strings.Builder
	for _, c := range changes {
		fmt.Fprintf(&text, "%s %s %s\n", c.Order, cmp.Or(c.Creation.String(), "-"), cmp.Or(c.Taker.String(), "-"))
	}
	return text.String()
}

// DecodeChanges reads what encodeChanges wrote; nil stands for everything.
func DecodeChanges(text string) ([]order.Change, error) {
	if text == everything {
		return nil, nil
	}
	var changes []order.Change
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			return nil, fmt.Errorf("notification of %d fields", len(fields))
		}
		for i := range fields {
			fields[i] = strings.TrimPrefix(fields[i], "-")
		}
		var c order.Change
		err := errors.Join(c.Order.UnmarshalText([]byte(fields[0])),
			c.Creation.UnmarshalText([]byte(fields[1])), c.Taker.UnmarshalText([]byte(fields[2])))
		if err != nil {
			return nil, fmt.Errorf("notification: %w", err)
		}
		changes = append(changes, c)
	}
	return changes, nil
}
