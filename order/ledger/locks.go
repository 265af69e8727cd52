package ledger

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/store"
)

// lockStatus says whether the store knows an order to be locked for its taker.
type lockStatus int64

const (
	notLocked lockStatus = iota
	locked
	delivered // but its creation was not seen
)

// lock is the row of an order in locks; the zero value means there is none.
type lock struct {
	status    lockStatus
	authority chain.Address
	amount    string
}

// lockOf returns the lock of an order. Created orders that are not locked need none: their listed row has their taker.
func lockOf(o *order.Order) lock {
	if o == nil || o.Fulfilled == nil {
		return lock{}
	}
	status := notLocked
	switch _, isLocked := o.Lock(); {
	case isLocked:
		status = locked
	case o.State.IsLocked():
		status = delivered
	case o.Created != nil:
		return lock{}
	}
	return lock{status, o.Fulfilled.Fact.UnlockAuthority, o.GiveFinal.String()}
}

// row returns the arguments of insertLock.
func (l lock) row(o *order.Order, number int64) []any {
	give := o.Terms.Give
	return []any{
		number, int64(l.status), int64(give.Chain), int64(o.Terms.Take.Chain), o.ID[:], store.Blob(l.authority.Bytes()),
		store.Blob(give.Token.Bytes()), l.amount,
	}
}

// lockedOrdersOf scans one range of the covering index locks_of and does not read the table.
const lockedOrdersOf = `SELECT id, give_chain, give_token, give_amount, take_chain, locked
	FROM locks WHERE locked > 0 AND unlock_authority = $1
	ORDER BY give_chain, give_token, take_chain, id`

// Locks returns an unlock authority's certain locks, and its deliveries on orders whose creation was not seen, both
// sorted by give chain, give token, take chain and ID.
func (l Ledger) Locks(ctx context.Context, taker chain.Address) (certain, unconfirmed []order.Lock, err error) {
	var row lockRow
	err = l.ForEachRow(ctx, func(rows *sql.Rows) error {
		if err := rows.Scan(&row.id, &row.giveChain, &row.token, &row.amount, &row.takeChain, &row.status); err != nil {
			return err
		}
		if err := row.read(); err != nil {
			return err
		}
		if row.status == int64(locked) {
			certain = append(certain, row.lock)
		} else {
			unconfirmed = append(unconfirmed, row.lock)
		}
		return nil
	}, lockedOrdersOf, store.Blob(taker.Bytes()))
	return certain, unconfirmed, err
}

// lockRow is a row of locks in the driver's memory. An answer may read thousands, so values equal to the previous row's
// are not copied.
type lockRow struct {
	id, token, amount            sql.RawBytes
	giveChain, takeChain, status int64
	lastToken                    []byte
	lock                         order.Lock
}

func (r *lockRow) read() error {
	if len(r.id) != len(r.lock.Order) {
		return fmt.Errorf("order id of %d bytes", len(r.id))
	}
	r.lock.Order = order.ID(r.id)
	r.lock.Give.Chain, r.lock.TakeChain = chain.ID(r.giveChain), chain.ID(r.takeChain)
	if r.lastToken == nil || !bytes.Equal(r.token, r.lastToken) {
		r.lastToken = append(r.lastToken[:0], r.token...)
		r.lock.Give.Token = chain.NewAddress(r.token)
	}
	return r.lock.Give.Amount.UnmarshalText(r.amount)
}

// Counted is the number of orders that give on one chain and take on another.
type Counted struct {
	Give, Take chain.ID
	Orders     uint64
	Locked     uint64 // those delivered but not yet paid for
}

// CountOrders counts the orders between each pair of chains.
func (l Ledger) CountOrders(ctx context.Context) ([]Counted, error) {
	return store.All(ctx, l, func(rows *sql.Rows, c *Counted) error {
		return rows.Scan(&c.Give, &c.Take, &c.Orders, &c.Locked)
	}, `SELECT give_chain, take_chain, SUM(orders), SUM(locked) FROM (
			SELECT give_chain, take_chain, 1 AS orders, 0 AS locked FROM orders WHERE length(terms) > 0
			UNION ALL SELECT give_chain, take_chain, 0, 1 FROM locks WHERE locked = $1) AS counted GROUP BY give_chain, take_chain`, int64(locked))
}
