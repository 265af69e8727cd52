package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"crossgate/chain"
	"crossgate/order"
)

// Change tells of an order about which chains have said something new, or taken something back: answers
// about it are out of date.
type Change struct {
	Order    order.ID
	Creation chain.TxHash  // absent when it was not seen
	Taker    chain.Address // unlock authority; absent when nobody has delivered
}

// changesOf lists what answers depend on the orders now, or did on the events that were withdrawn.
func changesOf(folded map[order.ID]*order.Order, withdrawn []order.Event) []Change {
	changes := make(map[order.ID]Change, len(folded))
	for _, e := range withdrawn {
		changed := changes[e.Order]
		changed.Order = e.Order
		switch fact := e.Fact.(type) {
		case order.Created:
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

// Notifications of PostgreSQL hold less than 8000 bytes each. More changes than changesTold are told of as
// one: anything may have changed.
const (
	channel     = "crossgate_orders"
	changesEach = 30
	changesTold = 600
	everything  = "*"
)

// announce tells the other replicas of changes when the transaction is committed.
func (s *Store) announce(ctx context.Context, tx *transaction, changes []Change) error {
	if s.cluster == nil || len(changes) == 0 {
		return nil
	}
	rows := [][]any{{channel, everything}}
	if len(changes) <= changesTold {
		rows = rows[:0]
		for part := range slices.Chunk(changes, changesEach) {
			rows = append(rows, []any{channel, encodeChanges(part)})
		}
	}
	return tx.execEach(ctx, `SELECT pg_notify($1, $2)`, rows)
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

// listen passes on what any replica announces until ctx ends. What was said while there was no connection
// is not known: then everything may have changed.
func (x *Index) listen(ctx context.Context) {
	if x.store.cluster == nil {
		return
	}
	for {
		err := x.listenOnce(ctx)
		if ctx.Err() != nil {
			return
		}
		x.options.Logger.WarnContext(ctx, "changes of other replicas are not heard", "error", err, "retry_in", leaseInterval)
		if !wait(ctx, leaseInterval) {
			return
		}
	}
}

func (x *Index) listenOnce(ctx context.Context) error {
	connection, err := pgx.ConnectConfig(ctx, x.store.cluster.config.Copy())
	if err != nil {
		return err
	}
	defer connection.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing was written on it
	if _, err := connection.Exec(ctx, "LISTEN "+channel); err != nil {
		return err
	}
	x.options.Observer.OrdersChanged(nil)
	for {
		heard, err := connection.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		changes, err := decodeChanges(heard.Payload)
		if err != nil {
			return err
		}
		x.options.Observer.OrdersChanged(changes)
	}
}
