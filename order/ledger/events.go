package ledger

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/store"
)

// The columns of an event, and the terms that its fact may share with other facts of its order.
const (
	eventColumns = `chain, block, log_index, block_hash, block_time, tx, initiator, i.address, id, kind, fact, p.address, terms`
	fromEvents   = ` FROM events JOIN orders ON number = order_number
		LEFT JOIN addresses i ON i.address_number = initiator LEFT JOIN addresses p ON p.address_number = party`
	inBlocks = ` WHERE chain = $1 AND block BETWEEN $2 AND $3`
)

// Index expressions by which orders and transactions are found.
var idPrefix, txPrefix = store.PrefixOf("id"), store.PrefixOf("tx")

// EventsOfAll returns the events of orders, grouped by order ID.
func EventsOfAll(ctx context.Context, q store.Reader, ids []order.ID) (map[order.ID][]order.Event, error) {
	events := make(map[order.ID][]order.Event, len(ids))
	if len(ids) == 0 {
		return events, nil
	}
	found, err := queryEvents(ctx, q, `SELECT `+eventColumns+fromEvents+` WHERE `+idPrefix+` = ANY($1)`, store.Prefixes(ids))
	wanted := make(map[order.ID]bool, len(ids))
	for _, id := range ids {
		wanted[id] = true
	}
	for _, e := range found {
		if wanted[e.Order] {
			events[e.Order] = append(events[e.Order], e)
		}
	}
	return events, err
}

// queryIDs returns the ids that a statement finds.
func queryIDs(ctx context.Context, q store.Reader, query string, args ...any) ([]order.ID, error) {
	return store.All(ctx, q, func(rows *sql.Rows, id *order.ID) error { return rows.Scan(store.HashColumn(id)) }, query, args...)
}

// OfOrder returns the events of one order.
func (l Ledger) OfOrder(ctx context.Context, id order.ID) ([]order.Event, error) {
	events, err := EventsOfAll(ctx, l, []order.ID{id})
	return events[id], err
}

// OrdersIn returns the events of all orders that a transaction has events of, in the order of ByOrder. It uses a single
// statement, since the database may be far away.
func (l Ledger) OrdersIn(ctx context.Context, tx chain.TxHash) (orders [][]order.Event, err error) {
	events, err := queryEvents(ctx, l, `SELECT `+eventColumns+fromEvents+`
		WHERE number IN (SELECT order_number FROM events WHERE `+txPrefix+` = $1 AND tx = $2)`, store.Prefix(tx.Bytes()), tx.Bytes())
	return ByOrder(order.Sorted(events), tx), err
}

// ByOrder groups sorted events by order: first orders that a transaction created, then those that it has other events
// of, both in the sequence of the transaction's events.
func ByOrder(events []order.Event, tx chain.TxHash) (orders [][]order.Event) {
	all, created, others := make(map[order.ID][]order.Event), []order.ID{}, []order.ID{}
	for _, e := range events {
		all[e.Order] = append(all[e.Order], e)
		switch {
		case e.At.Tx != tx:
		case IsCreation(e):
			created = append(created, e.Order)
		default:
			others = append(others, e.Order)
		}
	}
	for _, id := range append(created, others...) {
		if events, first := all[id]; first {
			orders = append(orders, events)
			delete(all, id)
		}
	}
	return orders
}

// EventsBetween returns the events of a range of a chain's blocks, in block and log order.
func (l Ledger) EventsBetween(ctx context.Context, id chain.ID, r Range) ([]order.Event, error) {
	args := []any{int64(id), int64(r.From), int64(r.To)}
	events, err := queryEvents(ctx, l, `SELECT `+eventColumns+fromEvents+inBlocks, args...)
	if err != nil {
		return nil, err
	}
	swaps, err := eventsOfSwaps(ctx, l, `SELECT `+swapColumns+` FROM swaps`+inBlocks, args...)
	return order.Sorted(append(events, swaps...)), err
}

// EventsAtOnce is how many events are held in memory, or written by one transaction, at a time. A block may have more.
const EventsAtOnce = 5000

// Beginning returns the first blocks of a range, at least one, that together have at most most events in the store.
func (l Ledger) Beginning(ctx context.Context, id chain.ID, r Range, most int) (Range, error) {
	beyond, err := store.All(ctx, l, func(rows *sql.Rows, block *uint64) error { return rows.Scan(block) },
		`SELECT block FROM (SELECT block FROM events`+inBlocks+` UNION ALL SELECT block FROM swaps`+inBlocks+`) AS stored
		ORDER BY block LIMIT 1 OFFSET $4`, int64(id), int64(r.From), int64(r.To), most)
	if len(beyond) > 0 {
		r.To = max(r.From, beyond[0]-1)
	}
	return r, err
}

// AddStored adds the stored events of each order to those given, such as events on its other chain.
func (l Ledger) AddStored(ctx context.Context, orders [][]order.Event) error {
	ids := make([]order.ID, len(orders))
	for i, events := range orders {
		ids[i] = events[0].Order
	}
	stored, err := EventsOfAll(ctx, l, ids)
	if err != nil {
		return err
	}
	for i, events := range orders {
		orders[i] = append(events, stored[ids[i]]...)
	}
	return nil
}

func queryEvents(ctx context.Context, q store.Reader, query string, args ...any) ([]order.Event, error) {
	return store.All(ctx, q, func(rows *sql.Rows, e *order.Event) error { return scanEvent(rows, e) }, query, args...)
}

// scanEvent scans the columns of an event, and further columns into more.
func scanEvent(rows *sql.Rows, e *order.Event, more ...any) error {
	var kind, initiator int
	var fact, party sql.RawBytes
	terms := store.Column(func(raw []byte) (err error) {
		e.Fact, err = decodeFact(kind, fact, raw, party)
		if created, is := e.Fact.(order.Created); is && initiator == initiatedByMaker {
			e.At.Initiator = created.Terms.Maker
		}
		return err
	})
	return rows.Scan(append([]any{
		&e.At.Chain, &e.At.Block, &e.At.LogIndex, store.HashColumn(&e.At.BlockHash), &e.At.Time,
		store.TxHashColumn(&e.At.Tx), &initiator, store.AddressColumn(&e.At.Initiator), store.HashColumn(&e.Order), &kind, &fact, &party, terms,
	}, more...)...)
}

const insertEvent = `INSERT INTO events (chain, block, log_index, block_hash, block_time, tx, initiator, order_number, kind, fact, party, open)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`

// initiatedByMaker is stored instead of an initiator's number.
const initiatedByMaker = -1

// initiatorOf returns an event's initiator in stored form.
func initiatorOf(e order.Event, numbers map[chain.Address]int64) int64 {
	if created, is := e.Fact.(order.Created); is && e.At.Initiator == created.Terms.Maker && !e.At.Initiator.IsAbsent() {
		return initiatedByMaker
	}
	return numbers[e.At.Initiator]
}

// eventRow returns the arguments of insertEvent except the last two, for an order whose terms are stored. initiator and
// of, the order, must be in stored form.
func eventRow(e order.Event, initiator, of any, terms, party []byte) []any {
	kind, fact := encodeFact(e.Fact, terms, party)
	return []any{
		int64(e.At.Chain), int64(e.At.Block), int64(e.At.LogIndex), e.At.BlockHash[:], int64(e.At.Time),
		store.Blob(e.At.Tx.Bytes()), initiator, of, kind, store.Blob(fact),
	}
}

// storedOrder is an order's stored state, as needed to store its events.
type storedOrder struct {
	number int64
	terms  []byte // shared by its events; empty if not known
	lock   lock

	isKnown, hasTerms bool  // whether its row exists, and has terms
	compared          int64 // sides; 3: both, or there is nothing to compare
}

// storedOrders returns orders as they are stored; it assigns numbers to new ones.
func storedOrders(ctx context.Context, tx *Tx, ids []order.ID) (map[order.ID]*storedOrder, error) {
	orders, last := make(map[order.ID]*storedOrder, len(ids)), int64(0) // last is the highest number of all orders
	err := tx.ForEachRow(ctx, func(rows *sql.Rows) error {
		var id order.ID
		o := new(storedOrder)
		err := rows.Scan(&o.number, store.HashColumn(&id), &o.terms, &o.compared,
			&o.lock.status, store.AddressColumn(&o.lock.authority), &o.lock.amount)
		o.isKnown, o.hasTerms, last = true, len(o.terms) > 0, max(last, o.number)
		orders[id] = o
		return err
	}, `SELECT number, orders.id, terms, COALESCE(compared, 3), COALESCE(locked, 0), unlock_authority, COALESCE(give_amount, '')
		FROM orders LEFT JOIN locks ON locks.order_number = number LEFT JOIN uncompared ON uncompared.order_number = number
		WHERE `+store.PrefixOf(`orders.id`)+` = ANY($1) OR number = (SELECT MAX(number) FROM orders)`, store.Prefixes(ids))
	for _, id := range ids {
		if orders[id] == nil {
			last++
			orders[id] = &storedOrder{number: last, compared: 3}
		}
	}
	return orders, err
}

func IsCreation(e order.Event) bool {
	_, creation := e.Fact.(order.Created)
	return creation
}

// FoldedOrders returns the orders whose terms are known, folded from their events.
func FoldedOrders(ctx context.Context, q store.Reader, ids []order.ID) (map[order.ID]*order.Order, error) {
	events, err := EventsOfAll(ctx, q, ids)
	if err != nil {
		return nil, err
	}
	orders := make(map[order.ID]*order.Order, len(ids))
	for id, each := range events {
		if o, hasTerms := order.Fold(each); hasTerms {
			orders[id] = o
		}
	}
	return orders, nil
}

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
