package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"crossgate/order"
	"crossgate/order/onchain"
	"crossgate/store"
)

const listColumns = `id, created, give_chain, take_chain, state, call, trade_type, referral_code, maker, creator, receiver,
	give_authority, order_authority, fulfiller, unlock_authority, affiliate, fulfilled_in`

const upsertListed = `INSERT INTO order_list (` + listColumns + `)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
	ON CONFLICT (id) DO UPDATE SET created = excluded.created, give_chain = excluded.give_chain, take_chain = excluded.take_chain,
		state = excluded.state, call = excluded.call, trade_type = excluded.trade_type, referral_code = excluded.referral_code,
		maker = excluded.maker, creator = excluded.creator, receiver = excluded.receiver, give_authority = excluded.give_authority,
		order_authority = excluded.order_authority, fulfiller = excluded.fulfiller, unlock_authority = excluded.unlock_authority,
		affiliate = excluded.affiliate, fulfilled_in = excluded.fulfilled_in`

// cell is what orders are counted by.
type cell struct {
	day, give, take, state, call int64
	tradeType                    string
}

const (
	secondsOfDay = 86_400
	anyDay       = -1 // the day of the cells that count orders of all days
)

func cellOf(o *order.Order) cell {
	return cell{
		day: int64(o.Created.At.Time) / secondsOfDay, give: int64(o.Terms.Give.Chain), take: int64(o.Terms.Take.Chain),
		state: int64(o.State), call: int64(o.Call), tradeType: tradeType(o),
	}
}

// tradeType is what the order's metadata says of it, empty where that is not known.
func tradeType(o *order.Order) string {
	m, _ := onchain.ParseMetadata(o.Created.Fact.Metadata)
	return m.OrderTradeType
}

// listedRow is the arguments of upsertListed for an order whose creation is known.
func listedRow(o *order.Order) []any {
	in, created, terms := cellOf(o), o.Created, o.Terms
	var affiliate, fulfiller, unlockAuthority, fulfilledIn []byte
	if created.Fact.Affiliate != nil {
		affiliate = created.Fact.Affiliate.Beneficiary.Bytes()
	}
	if o.Fulfilled != nil {
		fulfiller, unlockAuthority = o.Fulfilled.Fact.Taker.Bytes(), o.Fulfilled.Fact.UnlockAuthority.Bytes()
		fulfilledIn = o.Fulfilled.At.Tx.Bytes()
	}
	return []any{
		o.ID[:], int64(created.At.Time), in.give, in.take, in.state, in.call, in.tradeType, int64(created.Fact.ReferralCode),
		store.Blob(terms.Maker.Bytes()), store.Blob(created.At.Initiator.Bytes()), store.Blob(terms.Receiver.Bytes()),
		store.Blob(terms.Authorities.GivePatch.Bytes()), store.Blob(terms.Authorities.Order.Bytes()), store.Blob(fulfiller),
		store.Blob(unlockAuthority), store.Blob(affiliate), store.Blob(fulfilledIn),
	}
}

// list writes what lists are searched by anew for some orders, which are nil when nothing is known of their terms, and
// counts them where they are now.
func list(ctx context.Context, tx *store.Tx, orders map[order.ID]*order.Order, ids []order.ID) error {
	change, err := listedCells(ctx, tx, ids)
	if err != nil {
		return err
	}
	var listed, gone [][]any
	for _, id := range ids {
		o := orders[id]
		if o == nil || o.Created == nil {
			gone = append(gone, []any{id[:]})
			continue
		}
		in := cellOf(o)
		change[in]++
		in.day = anyDay
		change[in]++
		listed = append(listed, listedRow(o))
	}
	if err := tx.ExecEach(ctx, `DELETE FROM order_list WHERE id = $1`, gone); err != nil {
		return err
	}
	if err := tx.ExecEach(ctx, upsertListed, listed); err != nil {
		return err
	}
	return countCells(ctx, tx, change)
}

// listedCells returns the cells in which orders are counted so far, as what has to be taken from each.
func listedCells(ctx context.Context, tx *store.Tx, ids []order.ID) (map[cell]int64, error) {
	change := map[cell]int64{}
	err := eachPart(ids, func(marks string, keys []any) error {
		return tx.ForEachRow(ctx, func(rows *sql.Rows) error {
			var in cell
			var created int64
			if err := rows.Scan(&created, &in.give, &in.take, &in.state, &in.call, &in.tradeType); err != nil {
				return err
			}
			in.day = created / secondsOfDay
			change[in]--
			in.day = anyDay
			change[in]--
			return nil
		}, `SELECT created, give_chain, take_chain, state, call, trade_type FROM order_list WHERE id IN (`+marks+`)`, keys...)
	})
	return change, err
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
		left, err := x.store.listSome(ctx)
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
		if err := list(ctx, tx, orders, ids); err != nil {
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
