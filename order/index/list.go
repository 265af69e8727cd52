package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/onchain"
	"crossgate/store"
)

const listColumns = `id, created, give_chain, take_chain, state, call, trade_type, referral_code, maker, creator, receiver,
	give_authority, order_authority, affiliate, fulfiller, unlock_authority, fulfilled_in`

// Rows are written as narrowly as they change: an index costs something only when a column of it is written.
const (
	insertListed = `INSERT INTO order_list (` + listColumns + `)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`
	updateListedState      = `UPDATE order_list SET state = $2, call = $3 WHERE id = $1`
	updateListedFulfilment = `UPDATE order_list SET state = $2, call = $3, fulfiller = $4, unlock_authority = $5, fulfilled_in = $6
		WHERE id = $1`
	deleteListed = `DELETE FROM order_list WHERE id = $1`
)

// cell is what orders are counted by.
type cell struct {
	day, give, take, state, call int64
	tradeType                    string
}

const (
	secondsOfDay = 86_400
	anyDay       = -1 // the day of the cells that count orders of all days
)

// tradeType is what the order's metadata says of it, empty where that is not known.
func tradeType(o *order.Order) string {
	m, _ := onchain.ParseMetadata(o.Created.Fact.Metadata)
	return m.OrderTradeType
}

// listing is a row of order_list. Bytes are in strings, for rows to be compared.
type listing struct {
	terms      listedTerms
	state      [2]int64  // of the order and of its external call
	fulfilment [3]string // fulfiller, unlock authority and transaction; empty before
}

// listedTerms are the columns that do not change while an order lives.
type listedTerms struct {
	created, give, take int64
	tradeType           string
	referralCode        int64
	people              [6]string // maker, creator, receiver, both authorities, beneficiary of the affiliate fee
}

// listingOf is the row of an order whose creation is known.
func listingOf(o *order.Order) listing {
	created, terms := o.Created, o.Terms
	l := listing{state: [2]int64{int64(o.State), int64(o.Call)}, terms: listedTerms{
		created: int64(created.At.Time), give: int64(terms.Give.Chain), take: int64(terms.Take.Chain), tradeType: tradeType(o),
		referralCode: int64(created.Fact.ReferralCode),
	}}
	people := []chain.Address{terms.Maker, created.At.Initiator, terms.Receiver, terms.Authorities.GivePatch, terms.Authorities.Order}
	if created.Fact.Affiliate != nil {
		people = append(people, created.Fact.Affiliate.Beneficiary)
	}
	for i, each := range people {
		l.terms.people[i] = string(each.Bytes())
	}
	if o.Fulfilled != nil {
		fact := o.Fulfilled.Fact
		l.fulfilment = [3]string{string(fact.Taker.Bytes()), string(fact.UnlockAuthority.Bytes()), string(o.Fulfilled.At.Tx.Bytes())}
	}
	return l
}

// row is the arguments of insertListed.
func (l listing) row(id order.ID) []any {
	t := l.terms
	row := []any{id[:], t.created, t.give, t.take, l.state[0], l.state[1], t.tradeType, t.referralCode}
	for _, each := range t.people {
		row = append(row, []byte(each))
	}
	return append(row, l.fulfilled()...)
}

func (l listing) fulfilled() []any {
	f := l.fulfilment
	return []any{[]byte(f[0]), []byte(f[1]), []byte(f[2])}
}

// cell is the one that the order is in.
func (l listing) cell() cell {
	t := l.terms
	return cell{day: t.created / secondsOfDay, give: t.give, take: t.take, state: l.state[0], call: l.state[1], tradeType: t.tradeType}
}

// isActive reports whether the order waits for somebody to fulfil it.
func (l listing) isActive() bool { return order.State(l.state[0]) == order.StateCreated }

// listChange is how the rows of some orders change, as the arguments of statements.
type listChange struct {
	gone, added, states, fulfilments [][]any
	cells                            map[cell]int64
	referrals                        map[int64]int64 // by code
}

// move takes a row from one form to another, either of which may be none.
func (c *listChange) move(id order.ID, from, to *listing) {
	count := func(l *listing, by int64) {
		if l != nil {
			in := l.cell()
			c.cells[in] += by
			in.day = anyDay
			c.cells[in] += by
			c.referrals[l.terms.referralCode] += by
		}
	}
	count(from, -1)
	count(to, 1)
	switch {
	case from == nil && to == nil || from != nil && to != nil && *from == *to:
	case from == nil:
		c.added = append(c.added, to.row(id))
	case to == nil || from.terms != to.terms:
		c.gone = append(c.gone, []any{id[:]})
		if to != nil {
			c.added = append(c.added, to.row(id))
		}
	case from.fulfilment == to.fulfilment:
		c.states = append(c.states, []any{id[:], to.state[0], to.state[1]})
	default:
		c.fulfilments = append(c.fulfilments, append([]any{id[:], to.state[0], to.state[1]}, to.fulfilled()...))
	}
}

// list writes what lists are searched by anew for some orders, which are nil when nothing is known of their terms,
// counts them where they are now, and notes those of which statistics change: where countsAnew says so, and where it
// shows here.
func list(ctx context.Context, tx *store.Tx, orders map[order.ID]*order.Order, ids []order.ID, countsAnew func(order.ID) bool) error {
	known, err := listings(ctx, tx, ids)
	if err != nil {
		return err
	}
	change := listChange{cells: map[cell]int64{}, referrals: map[int64]int64{}}
	var uncounted [][]any
	for _, id := range ids {
		from, to := known[id], (*listing)(nil)
		if o := orders[id]; o != nil && o.Created != nil {
			l := listingOf(o)
			to = &l
		}
		change.move(id, from, to)
		if countsAnew(id) || (from == nil) != (to == nil) || from != nil && from.isActive() != to.isActive() {
			uncounted = append(uncounted, []any{id[:]})
		}
	}
	for _, step := range []struct {
		statement string
		rows      [][]any
	}{
		{deleteListed, change.gone},
		{insertListed, change.added},
		{updateListedState, change.states},
		{updateListedFulfilment, change.fulfilments},
		{`INSERT INTO uncounted (order_id) VALUES ($1)`, uncounted},
	} {
		if err := tx.ExecEach(ctx, step.statement, step.rows); err != nil {
			return err
		}
	}
	if err := countReferrals(ctx, tx, change.referrals); err != nil {
		return err
	}
	return countCells(ctx, tx, change.cells)
}

// countReferrals changes how many orders have referral codes.
func countReferrals(ctx context.Context, tx *store.Tx, change map[int64]int64) error {
	var rows [][]any
	for code, by := range change {
		if by != 0 {
			rows = append(rows, []any{code, by})
		}
	}
	return tx.ExecEach(ctx, `INSERT INTO referral_counts (referral_code, orders) VALUES ($1, $2)
		ON CONFLICT (referral_code) DO UPDATE SET orders = referral_counts.orders + excluded.orders`, rows)
}

// listings returns the rows of orders as they are.
func listings(ctx context.Context, tx *store.Tx, ids []order.ID) (map[order.ID]*listing, error) {
	known := make(map[order.ID]*listing, len(ids))
	err := tx.ForEachRow(ctx, func(rows *sql.Rows) error {
		var id order.ID
		l := &listing{}
		t := &l.terms
		columns := []any{store.HashColumn(&id), &t.created, &t.give, &t.take, &l.state[0], &l.state[1], &t.tradeType, &t.referralCode}
		for i := range t.people {
			columns = append(columns, &t.people[i])
		}
		for i := range l.fulfilment {
			columns = append(columns, &l.fulfilment[i])
		}
		err := rows.Scan(columns...)
		known[id] = l
		return err
	}, `SELECT `+listColumns+` FROM order_list WHERE id = ANY($1)`, keysOf(ids))
	return known, err
}

// countCells changes how many orders are in cells; empty ones are forgotten.
func countCells(ctx context.Context, tx *store.Tx, change map[cell]int64) error {
	var changed, fewer [][]any
	for in, by := range change {
		if by == 0 {
			continue
		}
		key := []any{in.day, in.give, in.take, in.state, in.call, in.tradeType}
		if by < 0 {
			fewer = append(fewer, key)
		}
		changed = append(changed, append(key[:len(key):len(key)], by))
	}
	err := tx.ExecEach(ctx, `INSERT INTO order_counts (day, give_chain, take_chain, state, call, trade_type, orders)
		VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (day, give_chain, take_chain, state, call, trade_type)
		DO UPDATE SET orders = order_counts.orders + excluded.orders`, changed)
	if err != nil {
		return err
	}
	return tx.ExecEach(ctx, `DELETE FROM order_counts WHERE day = $1 AND give_chain = $2 AND take_chain = $3 AND state = $4
		AND call = $5 AND trade_type = $6 AND orders = 0`, fewer)
}

// How the orders that are not listed yet are caught up with: so many in one transaction, with a pause after it in which
// followers can write, and another look when there are none.
const (
	listedAtOnce = 500
	listPause    = 10 * time.Millisecond
	listInterval = 3 * time.Second
)

// catchUpList lists, until ctx ends, the orders from before there were lists and those that an earlier release writes
// beside this one.
func (x *Index) catchUpList(ctx context.Context) {
	for {
		pause := listPause
		left, err := x.jobs.listSome(ctx)
		switch {
		case err != nil && ctx.Err() == nil && !errors.Is(err, store.ErrUnavailable):
			x.options.Logger.WarnContext(ctx, "orders could not be listed", "error", err, "retry_in", listInterval)
			pause = listInterval
		case err != nil || !left:
			pause = listInterval
		}
		if !wait(ctx, pause) {
			return
		}
	}
}

// listSome lists some of the orders that are not, and reports whether others may be left.
func (s orderStore) listSome(ctx context.Context) (left bool, err error) {
	if found, err := s.unlisted(ctx); err != nil || !found {
		return false, err
	}
	err = s.Update(ctx, func(tx *store.Tx) error {
		ids, err := queryIDs(ctx, tx, `SELECT DISTINCT order_id FROM unlisted ORDER BY order_id LIMIT $1`, listedAtOnce)
		if err != nil {
			return err
		}
		known, err := eventsOfAll(ctx, tx, ids)
		if err != nil {
			return err
		}
		orders, rows := map[order.ID]*order.Order{}, make([][]any, len(ids))
		for i, id := range ids {
			if o, hasTerms := order.Fold(known[id]); hasTerms {
				orders[id] = o
			}
			rows[i] = []any{id[:]}
		}
		if err := list(ctx, tx, orders, ids, func(order.ID) bool { return true }); err != nil {
			return err
		}
		left = len(ids) == listedAtOnce
		return tx.ExecEach(ctx, `DELETE FROM unlisted WHERE order_id = $1`, rows)
	})
	if err != nil {
		return false, fmt.Errorf("list orders: %w", err)
	}
	return left, nil
}

// unlisted reports whether there are orders that are not listed as they are.
func (s orderStore) unlisted(ctx context.Context) (found bool, err error) {
	_, err = s.QueryRow(ctx, []any{&found}, `SELECT EXISTS (SELECT 1 FROM unlisted)`)
	return found, err
}
