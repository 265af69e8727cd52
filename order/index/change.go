package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/store"
)

// Change is an order or a swap about which something new was stored, or something withdrawn: answers
// about it are out of date.
type Change struct {
	Order    order.ID      // or the swap's
	Creation chain.TxHash  // absent when it was not seen; of a swap the transaction that made it
	Taker    chain.Address // unlock authority; absent when nobody has delivered
}

// changesOf lists what answers depend on the orders now, or do or did on events that were added or withdrawn.
func changesOf(folded map[order.ID]*order.Order, events []order.Event) []Change {
	changes := make(map[order.ID]Change, len(folded))
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
	all := make([]Change, 0, len(changes))
	for _, changed := range changes {
		all = append(all, changed)
	}
	slices.SortFunc(all, func(a, b Change) int { return compareIDs(a.Order, b.Order) })
	return all
}

// A notification holds changesEach changes, to stay below PostgreSQL's limit. More than changesTold changes become one
// notification: anything may have changed.
const (
	channel     = "crossgate_orders"
	changesEach = 30
	changesTold = 600
	everything  = "*"
)

// announce notifies the other replicas of changes when the transaction is committed.
func (s orderStore) announce(ctx context.Context, tx *store.Tx, changes []Change) error {
	if !s.IsReplicated() {
		return nil // nobody else to notify
	}
	if len(changes) > changesTold {
		return tx.Notify(ctx, channel, everything)
	}
	var payloads []string
	for part := range slices.Chunk(changes, changesEach) {
		payloads = append(payloads, encodeChanges(part))
	}
	return tx.Notify(ctx, channel, payloads...)
}

// encodeChanges writes a change per line: id, creation, taker, with - for what is absent.
func encodeChanges(changes []Change) string {
	var text strings.Builder
	for _, c := range changes {
		fmt.Fprintf(&text, "%s %s %s\n", c.Order, cmp.Or(c.Creation.String(), "-"), cmp.Or(c.Taker.String(), "-"))
	}
	return text.String()
}

// decodeChanges reads what encodeChanges wrote; nil stands for everything.
func decodeChanges(text string) ([]Change, error) {
	if text == everything {
		return nil, nil
	}
	var changes []Change
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			return nil, fmt.Errorf("notification of %d fields", len(fields))
		}
		for i := range fields {
			fields[i] = strings.TrimPrefix(fields[i], "-")
		}
		var c Change
		err := errors.Join(c.Order.UnmarshalText([]byte(fields[0])),
			c.Creation.UnmarshalText([]byte(fields[1])), c.Taker.UnmarshalText([]byte(fields[2])))
		if err != nil {
			return nil, fmt.Errorf("notification: %w", err)
		}
		changes = append(changes, c)
	}
	return changes, nil
}

// listen passes on what any replica announces until ctx ends. Notifications are lost while there is no connection: then
// everything may have changed.
func (x *Index) listen(ctx context.Context) {
	if !x.store.IsReplicated() {
		return
	}
	for {
		err := x.listenOnce(ctx)
		if ctx.Err() != nil {
			return
		}
		if !errors.Is(err, store.ErrUnavailable) {
			x.options.Logger.WarnContext(ctx, "notifications of other replicas interrupted", "error", err,
				"retry_in", store.LeaseInterval)
		}
		if !wait(ctx, store.LeaseInterval) {
			return
		}
	}
}

func (x *Index) listenOnce(ctx context.Context) error {
	subscription, err := x.store.Subscribe(ctx, channel)
	if err != nil {
		return err
	}
	defer subscription.Close(ctx)
	x.options.Observer.OrdersChanged(nil)
	for {
		payload, err := subscription.Next(ctx)
		if err != nil {
			return err
		}
		changes, err := decodeChanges(payload)
		if err != nil {
			return err
		}
		x.options.Observer.OrdersChanged(changes)
	}
}
