package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"crossgate/order"
	"crossgate/store"
)

// Statistics are counted after the orders are stored: who writes an order notes its id in uncounted, and one replica
// counts these orders anew, with prices that it asks for meanwhile. What an order adds is stored beside the sums, so
// that exactly that is taken away when the order changes.

const (
	countedAtOnce = 200
	countJob      = "count statistics"
)

// countUp counts, until ctx ends, the orders that have changed.
func (x *Index) countUp(ctx context.Context) {
	for {
		if err := x.countRound(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, store.ErrUnavailable) {
			x.options.Logger.WarnContext(ctx, "orders could not be counted", "error", err, "retry_in", listInterval)
		}
		if !wait(ctx, listInterval) {
			return
		}
	}
}

// CatchUp lists and counts the orders that are not yet, unless another process is at it. report is told from time to
// time how many are left.
func (x *Index) CatchUp(ctx context.Context, report func(left int)) error {
	for left := true; left; {
		var err error
		if left, err = x.jobs.listSome(ctx); err != nil {
			return err
		}
	}
	const often = 50 // steps between two reports
	steps := 0
	return x.underLease(ctx, countJob, func(ctx context.Context, l store.Lease) (left bool, err error) {
		if steps++; steps%often == 1 {
			var uncounted int
			_, err := x.jobs.QueryRow(ctx, []any{&uncounted}, `SELECT COUNT(DISTINCT order_id) FROM uncounted`)
			if err != nil || uncounted == 0 {
				return false, err
			}
			report(uncounted)
		}
		return x.jobs.countSome(ctx, l, x.options.Prices)
	})
}

// countRound counts all orders that have changed, unless another replica does.
func (x *Index) countRound(ctx context.Context) error {
	return x.underLease(ctx, countJob, func(ctx context.Context, l store.Lease) (left bool, err error) {
		return x.jobs.countSome(ctx, l, x.options.Prices)
	})
}

// underLease takes steps of a job while they leave something to do, unless another replica does it.
func (x *Index) underLease(ctx context.Context, job string, step func(context.Context, store.Lease) (left bool, err error)) error {
	lease, leads, err := x.store.Claim(ctx, job)
	if err != nil || !leads {
		return err
	}
	holding, release := x.store.Hold(ctx, lease)
	for left := true; left && err == nil && wait(holding, listPause); {
		left, err = step(holding, lease)
	}
	return errors.Join(err, release())
}

// countSome counts some of the orders that have changed, and reports whether others may be left. Prices are asked for
// before the transaction that counts.
func (s orderStore) countSome(ctx context.Context, l store.Lease, prices PriceSource) (left bool, err error) {
	ids, err := queryIDs(ctx, s, `SELECT DISTINCT order_id FROM uncounted ORDER BY order_id LIMIT $1`, countedAtOnce)
	if err != nil || len(ids) == 0 {
		return false, err
	}
	known, err := s.knownPrices(ctx, ids, prices)
	if err != nil {
		return false, err
	}
	err = s.UpdateUnder(ctx, l, func(tx *store.Tx) error { return countAnew(ctx, tx, ids, known) })
	if err != nil {
		return false, fmt.Errorf("count %d orders: %w", len(ids), err)
	}
	return len(ids) == countedAtOnce, nil
}

// knownPrices asks for the prices of orders whose value is not known yet.
func (s orderStore) knownPrices(ctx context.Context, ids []order.ID, prices PriceSource) (map[Priced]*big.Rat, error) {
	if prices == nil {
		return nil, nil
	}
	orders, err := foldedOrders(ctx, s, ids)
	if err != nil {
		return nil, err
	}
	before, err := contributionsOf(ctx, s, ids)
	if err != nil {
		return nil, err
	}
	wanted := make(map[Priced]bool)
	for id, o := range orders {
		if o.Created == nil || before[id].Values.isWhole(o) {
			continue
		}
		for _, each := range pricesOf(o) {
			wanted[each] = true
		}
	}
	if len(wanted) == 0 {
		return nil, nil
	}
	return prices(ctx, slices.Collect(maps.Keys(wanted))), nil
}

// foldedOrders returns those of orders of which the terms are known.
func foldedOrders(ctx context.Context, q querier, ids []order.ID) (map[order.ID]*order.Order, error) {
	events, err := eventsOfAll(ctx, q, ids)
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

// countAnew replaces what orders add to the statistics by what they add now.
func countAnew(ctx context.Context, tx *store.Tx, ids []order.ID, prices map[Priced]*big.Rat) error {
	orders, err := foldedOrders(ctx, tx, ids)
	if err != nil {
		return err
	}
	before, err := contributionsOf(ctx, tx, ids)
	if err != nil {
		return err
	}
	change := newTally()
	var written, gone, counted [][]any
	for _, id := range ids {
		was, isCounted := before[id]
		if isCounted {
			change.add(was, -1)
		}
		counted = append(counted, []any{id[:]})
		o := orders[id]
		if o == nil || o.Created == nil {
			gone = append(gone, []any{id[:]})
			continue
		}
		now := contributionOf(o, was.Values, prices)
		change.add(now, 1)
		if !isCounted || !was.equals(now) {
			written = append(written, now.row(id))
		}
	}
	if err := tx.ExecEach(ctx, `DELETE FROM order_values WHERE id = $1`, gone); err != nil {
		return err
	}
	if err := tx.ExecEach(ctx, upsertContribution, written); err != nil {
		return err
	}
	if err := change.store(ctx, tx); err != nil {
		return err
	}
	return tx.ExecEach(ctx, `DELETE FROM uncounted WHERE order_id = $1`, counted)
}

// contribution is what one order adds to the statistics.
type contribution struct {
	pair
	day                         int64
	giveToken, takeToken        string // bytes
	swapped                     string
	creator                     string
	fulfilled, active, unpriced int64 // 1 for yes
	deliveredAfter              int64 // seconds; -1: it was not delivered
	Values
}

// pair is the two chains of an order.
type pair struct{ give, take int64 }

// allPairs stands for orders between any chains, of whom creators are counted apart.
var allPairs = pair{}

func contributionOf(o *order.Order, before Values, prices map[Priced]*big.Rat) contribution {
	c := contribution{
		pair: pair{int64(o.Terms.Give.Chain), int64(o.Terms.Take.Chain)}, day: int64(o.Created.At.Time / 86_400),
		giveToken: string(o.Terms.Give.Token.Bytes()), takeToken: string(o.Terms.Take.Token.Bytes()),
		creator: string(o.Created.At.Initiator.Bytes()), deliveredAfter: -1, Values: valuesOf(o, before, prices),
	}
	if p := o.Created.Fact.Preswap; p != nil {
		c.swapped = string(p.TokenIn.Bytes())
	}
	if o.Fulfilled != nil {
		c.fulfilled = 1
		// Chains have clocks of their own.
		c.deliveredAfter = int64(o.Fulfilled.At.Time - min(o.Created.At.Time, o.Fulfilled.At.Time))
	}
	if o.State == order.StateCreated {
		c.active = 1
	}
	if !c.isWhole(o) {
		c.unpriced = 1
	}
	return c
}

const upsertContribution = `INSERT INTO order_values (id, day, give_chain, take_chain, give_token, take_token, swapped, creator,
		fulfilled, active, unpriced, given, taken, fee, affiliate, delivered_after)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
	ON CONFLICT (id) DO UPDATE SET day = excluded.day, give_chain = excluded.give_chain, take_chain = excluded.take_chain,
		give_token = excluded.give_token, take_token = excluded.take_token, swapped = excluded.swapped, creator = excluded.creator,
		fulfilled = excluded.fulfilled, active = excluded.active, unpriced = excluded.unpriced, given = excluded.given,
		taken = excluded.taken, fee = excluded.fee, affiliate = excluded.affiliate, delivered_after = excluded.delivered_after`

func (c contribution) row(id order.ID) []any {
	after := sql.NullInt64{Int64: c.deliveredAfter, Valid: c.deliveredAfter >= 0}
	return []any{
		id[:], c.day, c.give, c.take, store.Blob([]byte(c.giveToken)), store.Blob([]byte(c.takeToken)), store.Blob([]byte(c.swapped)),
		store.Blob([]byte(c.creator)), c.fulfilled, c.active, c.unpriced, c.Given, c.Taken, c.Fee, c.Affiliate,
		after,
	}
}

// equals compares what is stored of two.
func (c contribution) equals(other contribution) bool {
	for _, values := range [][2]*int64{{c.Given, other.Given}, {c.Taken, other.Taken}, {c.Fee, other.Fee}, {c.Affiliate, other.Affiliate}} {
		if a, b := values[0], values[1]; (a == nil) != (b == nil) || a != nil && *a != *b {
			return false
		}
	}
	c.Values, other.Values = Values{}, Values{}
	return c == other
}

// contributionsOf returns what orders add so far, without those that are not counted.
func contributionsOf(ctx context.Context, q querier, ids []order.ID) (map[order.ID]contribution, error) {
	known := make(map[order.ID]contribution, len(ids))
	err := q.ForEachRow(ctx, func(rows *sql.Rows) error {
		var id order.ID
		var c contribution
		var giveToken, takeToken, swapped, creator []byte
		c.deliveredAfter = -1
		after := sql.NullInt64{}
		err := rows.Scan(store.HashColumn(&id), &c.day, &c.give, &c.take, &giveToken, &takeToken, &swapped, &creator,
			&c.fulfilled, &c.active, &c.unpriced, &c.Given, &c.Taken, &c.Fee, &c.Affiliate, &after)
		if after.Valid {
			c.deliveredAfter = after.Int64
		}
		c.giveToken, c.takeToken, c.swapped, c.creator = string(giveToken), string(takeToken), string(swapped), string(creator)
		known[id] = c
		return err
	}, `SELECT id, day, give_chain, take_chain, give_token, take_token, swapped, creator, fulfilled, active, unpriced,
		given, taken, fee, affiliate, delivered_after FROM order_values WHERE id = ANY($1)`, keysOf(ids))
	return known, err
}
