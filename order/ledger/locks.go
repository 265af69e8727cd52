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

// lockStatus is what the store says of an order about being locked for its taker.
type lockStatus int64

const (
	notLocked lockStatus = iota
	locked
	delivered // without a creation that was seen
)

// lock is the row of an order in locks; the zero value: none.
type lock struct {
	status    lockStatus
	authority chain.Address
	amount    string
}

// lockOf is the lock of an order. Those that are not locked are found by their listed row.
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

// row is the arguments of insertLock.
func (l lock) row(o *order.Order, number int64) []any {
	give := o.Terms.Give
	return []any{
		number, int64(l.status), int64(give.Chain), int64(o.Terms.Take.Chain), o.ID[:], store.Blob(l.authority.Bytes()),
		store.Blob(give.Token.Bytes()), l.amount,
	}
}

// lockedOrdersOf is answered by one range of the index locks_of, which has every column of it: the table is not read.
const lockedOrdersOf = `SELECT id, give_chain, give_token, give_amount, take_chain, locked
	FROM locks WHERE locked > 0 AND unlock_authority = $1
	ORDER BY give_chain, give_token, take_chain, id`

// Locks lists the amounts locked for an unlock authority, and its deliveries on orders whose creation was not seen,
// both by give chain, give token, take chain and id.
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
	if err != nil {
		return nil, nil, fmt.Errorf("read locked orders: %w", err)
	}
	return certain, unconfirmed, nil
}

// lockRow is a row of locks as the driver has it: thousands are read for one answer, so nothing is copied
// that is the same as in the row before.
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
