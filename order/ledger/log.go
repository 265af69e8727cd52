package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"crossgate/order"
	"crossgate/store"
)

// entries collects a transaction's additions to the log: retractions, newest event first, then added events, then those
// that became final. It omits history in blocks older than Ledger.Keep, since much of it may be read at a time.
type entries struct {
	tx    *Tx
	since uint64 // UNIX seconds
	now   time.Time
	list  []order.LogEntry
}

// newEntries returns the entries for removing and adding events of orders; known are their stored events without the
// removed ones. Events that are removed and added again are omitted.
func newEntries(tx *Tx, known map[order.ID][]order.Event, removed, added []order.Event) *entries {
	l := &entries{tx: tx, now: time.Now()}
	if tx.keep == 0 {
		return l
	}
	if !tx.isNews {
		l.since = uint64(max(l.now.Add(-tx.keep).Unix(), 0))
	}
	gone, came := removed, slices.Clone(added)
	if len(removed) > 0 {
		before, after := textsOf(removed, placeOf), textsOf(added, placeOf)
		gone, came = lacking(removed, before, after), lacking(added, after, before)
	}
	events := make(map[order.ID][]order.Event, len(known))
	for id, each := range known {
		events[id] = slices.Clone(each)
	}
	for _, e := range removed {
		events[e.Order] = append(events[e.Order], e)
	}
	slices.SortStableFunc(gone, func(a, b order.Event) int { return b.At.Compare(&a.At) })
	for _, e := range gone {
		rest := slices.DeleteFunc(slices.Clone(events[e.Order]), func(other order.Event) bool { return isSamePlace(e, other) })
		l.add(order.Retracted, e, events[e.Order], rest)
		events[e.Order] = rest
	}
	for _, e := range order.Sorted(came) {
		before := events[e.Order]
		events[e.Order] = append(before, e)
		l.add(order.Happened, e, before, events[e.Order])
	}
	return l
}

// placeOf returns an event as a text that is equal if the event is stored again with no more than its sender or time
// changed.
func placeOf(e order.Event) string {
	return fmt.Sprint(e.At.Chain, e.At.Block, e.At.LogIndex, e.At.BlockHash, order.Statement(e.Order, e.Fact))
}

// add appends the entry for a step of an event that changed its order's events from before to after.
func (l *entries) add(step order.Step, e order.Event, before, after []order.Event) {
	if e.At.Time < l.since {
		return
	}
	from, _ := order.Fold(before)
	to, _ := order.Fold(after)
	entry := order.EntryOf(step, e, from, to)
	if entry.IsFinal = l.isFinal(e); step == order.Retracted {
		entry.IsFinal = slices.ContainsFunc(l.tx.final, func(other order.Event) bool { return isSamePlace(e, other) })
	}
	l.list = append(l.list, entry)
}

func (l *entries) isFinal(e order.Event) bool {
	return e.At.Chain == l.tx.settled.Chain && e.At.Block <= l.tx.settled.Number
}

// openness returns 1 if an event will have a further entry, else 0.
func (l *entries) openness(e order.Event) int {
	wasFinal := func(other order.Event) bool { return isSamePlace(e, other) && placeOf(e) == placeOf(other) }
	if l.tx.keep == 0 || e.At.Time < l.since || l.isFinal(e) || slices.ContainsFunc(l.tx.final, wasFinal) {
		return 0
	}
	return 1
}

// write adds the entries of events that became final, and stores all entries. The events must be stored already.
func (l *entries) write(ctx context.Context) error {
	if l.tx.keep == 0 {
		return nil
	}
	if err := l.addFinal(ctx); err != nil || len(l.list) == 0 {
		return err
	}
	var last int64
	count := int64(len(l.list))
	// Writing transactions take turns until they commit: a reader that sees an entry sees all earlier ones.
	err := l.tx.QueryRow(ctx, []any{&last}, `UPDATE log_ends SET newest = $1 +
		CASE WHEN newest < $2 THEN $2 ELSE newest END RETURNING newest`, count, l.now.UnixMicro()-count)
	if err != nil {
		return err
	}
	rows := make([][]any, len(l.list))
	for i, e := range l.list {
		text, err := json.Marshal(e)
		if err != nil {
			return err
		}
		rows[i] = []any{last - count + 1 + int64(i), e.Order[:], string(text)}
	}
	return l.tx.ExecEach(ctx, `INSERT INTO log (position, order_id, entry) VALUES ($1, $2, $3)`, rows)
}

// areFinal uses the small index events_open. The plus keeps SQLite from scanning all events of the chain.
const areFinal = ` WHERE +chain = $1 AND open = 1 AND block <= $2`

// addFinal adds entries for the events that the settled block makes final.
func (l *entries) addFinal(ctx context.Context) error {
	settled := l.tx.settled
	if settled.Number == 0 {
		return nil
	}
	args := []any{int64(settled.Chain), int64(settled.Number)}
	final, err := queryEvents(ctx, l.tx, `SELECT `+eventColumns+fromEvents+areFinal, args...)
	if err != nil || len(final) == 0 {
		return err
	}
	if _, err := l.tx.ExecContext(ctx, `UPDATE events SET open = 0`+areFinal, args...); err != nil {
		return err
	}
	ids := make([]order.ID, len(final))
	for i, e := range final {
		ids[i] = e.Order
	}
	orders, err := FoldedOrders(ctx, l.tx, ids)
	if err != nil {
		return err
	}
	for _, e := range order.Sorted(final) {
		l.list = append(l.list, order.EntryOf(order.Final, e, orders[e.Order], orders[e.Order]))
	}
	return nil
}

// LogEnds returns the newest position ever used by the log, and the newest whose entry was deleted.
func (l Ledger) LogEnds(ctx context.Context) (newest, deleted uint64, err error) {
	_, err = l.QueryRow(ctx, []any{&newest, &deleted}, `SELECT newest, deleted FROM log_ends`)
	return newest, deleted, err
}

// Entries returns up to most log entries after a position; only those of one order if it is given.
func (l Ledger) Entries(ctx context.Context, after uint64, of order.ID, most int) ([]order.LogEntry, error) {
	which, args := ` ORDER BY position LIMIT $2`, []any{int64(after), most}
	if of != (order.ID{}) {
		which, args = ` AND order_id = $3`+which, append(args, of[:])
	}
	return store.All(ctx, l, func(rows *sql.Rows, e *order.LogEntry) error {
		var text []byte
		if err := rows.Scan(&e.Position, store.HashColumn(&e.Order), &text); err != nil {
			return err
		}
		return json.Unmarshal(text, e)
	}, `SELECT position, order_id, entry FROM log WHERE position > $1`+which, args...)
}

// Expire deletes the entries older than Ledger.Keep, some thousand at a time.
func (l Ledger) Expire(ctx context.Context) error {
	before := time.Now().Add(-l.Keep).UnixMicro()
	isMore, err := true, error(nil)
	for isMore && err == nil {
		err = l.Update(ctx, func(tx *store.Tx) error {
			var last int64
			err := tx.QueryRow(ctx, []any{&last}, `SELECT COALESCE(MAX(position), 0) FROM
				(SELECT position FROM log WHERE position < $1 ORDER BY position LIMIT 5000) expired`, before)
			if isMore = last > 0; err != nil || !isMore {
				return err
			}
			if _, err = tx.ExecContext(ctx, `DELETE FROM log WHERE position <= $1`, last); err != nil {
				return err
			}
			_, err = tx.ExecContext(ctx, `UPDATE log_ends SET deleted = $1`, last)
			return err
		})
	}
	return err
}
