package stats

import (
	"context"
	"database/sql"
	"maps"
	"math"
	"math/big"
	"slices"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/ledger"
	"crossgate/order/list"
	"crossgate/store"
)

const (
	// AtOnce is the maximum number of orders valued in one transaction.
	AtOnce       = 200
	secondsOfDay = 86_400
	mostStored   = math.MaxInt32 // for days, and seconds until delivery
	insertStale  = `INSERT INTO stale_days (day) VALUES ($1) ON CONFLICT (day) DO NOTHING`
	deleteValues = `DELETE FROM order_values WHERE order_number = $1`
	insertValues = `INSERT INTO order_values (order_number, day, give_chain, take_chain, active, unpriced,
			given, taken, fee, affiliate, delivered_after, margin, creator, give_token, take_token)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`
	deleteUncounted = `DELETE FROM uncounted WHERE order_number = $1`
)

// Count values some of the changed orders, and reports whether more may be left. It asks for prices outside of the
// transaction; prices may be nil: then values are unknown.
func Count(ctx context.Context, db *store.DB, l store.Lease, prices PriceSource) (left bool, err error) {
	numbers := make(map[order.ID]int64, AtOnce)
	err = db.ForEachRow(ctx, func(rows *sql.Rows) error {
		var id order.ID
		var number int64
		err := rows.Scan(&number, store.HashColumn(&id))
		numbers[id] = number
		return err
	}, `SELECT number, id FROM orders WHERE number IN (SELECT order_number FROM uncounted ORDER BY order_number LIMIT $1)`, AtOnce)
	if err != nil || len(numbers) == 0 {
		return false, err
	}
	ids := slices.Collect(maps.Keys(numbers))
	asked, err := ask(ctx, db, ids, prices)
	if err == nil {
		err = db.UpdateUnder(ctx, l, func(tx *store.Tx) error {
			orders, err := ledger.FoldedOrders(ctx, tx, ids)
			if err != nil {
				return err
			}
			return countAnew(ctx, tx, numbers, orders, asked)
		})
	}
	return len(ids) == AtOnce, err
}

// Revalue has orders created yesterday or later counted again if a price was not known: its source may have failed.
// They are few enough for statistics to go on.
func Revalue(ctx context.Context, db *store.DB, l store.Lease) error {
	return db.UpdateUnder(ctx, l, func(tx *store.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO uncounted (order_number)
			SELECT order_number FROM order_values WHERE day >= $1 AND unpriced = 1 ORDER BY random() LIMIT $2
			ON CONFLICT (order_number) DO NOTHING`, time.Now().Unix()/secondsOfDay-1, mostUncounted/2)
		return err
	})
}

// ask asks for the prices of orders; unknown prices are nil in the result. Without prices the result is nil.
func ask(ctx context.Context, db *store.DB, ids []order.ID, prices PriceSource) (asked map[Priced]*big.Rat, err error) {
	if prices == nil {
		return nil, nil
	}
	orders, err := ledger.FoldedOrders(ctx, db, ids)
	if err != nil {
		return nil, err
	}
	asked = make(map[Priced]*big.Rat)
	for _, o := range orders {
		if o.Created != nil {
			for _, each := range pricesOf(o) {
				asked[each] = nil
			}
		}
	}
	if len(asked) > 0 {
		maps.Copy(asked, prices(ctx, slices.Collect(maps.Keys(asked))))
	}
	return asked, nil
}

// countAnew replaces the contributions of orders to the statistics, and marks the days that become stale. An order that
// has changed meanwhile, so that it needs other prices, stays uncounted.
func countAnew(ctx context.Context, tx *store.Tx, numbers map[order.ID]int64, orders map[order.ID]*order.Order, asked map[Priced]*big.Rat) error {
	before, err := valued(ctx, tx, `order_number = ANY($1)`, slices.Collect(maps.Values(numbers)))
	if err != nil {
		return err
	}
	var named []chain.Address
	for _, o := range orders {
		if o.Created != nil {
			named = append(named, addressesOf(o)...)
		}
	}
	addresses, err := tx.AddressNumbers(ctx, named...)
	if err != nil {
		return err
	}
	var gone, written, counted [][]any
	worth := map[order.ID]*int64{}
	creators, stale := map[int64]bool{}, map[int64]bool{}
	for id, number := range numbers {
		was, isCounted := before[number]
		if isCounted {
			gone = append(gone, []any{number})
			stale[was.day], creators[was.creator] = true, true
		}
		o := orders[id]
		if o == nil || o.Created == nil {
			counted = append(counted, []any{number})
			continue
		}
		if asked == nil || !slices.ContainsFunc(pricesOf(o), func(p Priced) bool { _, is := asked[p]; return !is }) {
			counted = append(counted, []any{number})
		}
		stale[dayOf(o)], creators[addresses[o.Created.At.Initiator]] = true, true
		values := valuesOf(o, was.Values, asked)
		written, worth[id] = append(written, arguments(number, o, values, addresses)), values.Given
	}
	firsts, err := firstDays(ctx, tx, creators)
	if err != nil {
		return err
	}
	err = tx.ExecAll(ctx, store.Step{Statement: deleteValues, Rows: gone}, store.Step{Statement: insertValues, Rows: written})
	if err == nil {
		err = list.Value(ctx, tx, worth)
	}
	if err != nil {
		return err
	}
	now, err := firstDays(ctx, tx, creators)
	if err != nil {
		return err
	}
	moved := func(from, to map[pair]int64) {
		for each, day := range from {
			if other, is := to[each]; !is || other != day {
				stale[day] = true
			}
		}
	}
	moved(firsts, now)
	moved(now, firsts)
	var days [][]any
	for day := range stale {
		days = append(days, []any{day})
	}
	return tx.ExecAll(ctx, store.Step{Statement: insertStale, Rows: days}, store.Step{Statement: deleteUncounted, Rows: counted})
}

func dayOf(o *order.Order) int64 { return int64(min(o.Created.At.Time/secondsOfDay, mostStored)) }

// addressesOf returns an order's creator and the tokens that its maker paid and was to receive.
func addressesOf(o *order.Order) []chain.Address {
	paid := o.Terms.Give.Token
	if p := o.Created.Fact.Preswap; p != nil && !p.TokenIn.IsAbsent() {
		paid = p.TokenIn
	}
	return []chain.Address{o.Created.At.Initiator, paid, o.Terms.Take.Token}
}

func arguments(number int64, o *order.Order, v Values, addresses map[chain.Address]int64) []any {
	var deliveredAfter *int64
	if o.Fulfilled != nil {
		after := o.Fulfilled.At.Time - min(o.Created.At.Time, o.Fulfilled.At.Time) // each chain has its clock
		deliveredAfter = new(int64(min(after, mostStored)))
	}
	row := []any{
		number, dayOf(o), int64(o.Terms.Give.Chain), int64(o.Terms.Take.Chain), store.Bit(o.State == order.StateCreated),
		store.Bit(!v.isWhole(o)), v.Given, v.Taken, v.Fee, v.Affiliate, deliveredAfter, v.Margin,
	}
	for _, a := range addressesOf(o) {
		row = append(row, addresses[a])
	}
	return row
}

// contribution is an order's contribution to the statistics, as far as it is read back.
type contribution struct {
	day, creator int64
	Values
}

// valued returns the stored contributions of the orders that meet a condition, by number, omitting uncounted orders.
func valued(ctx context.Context, q store.Reader, where string, args ...any) (map[int64]contribution, error) {
	known := map[int64]contribution{}
	err := q.ForEachRow(ctx, func(rows *sql.Rows) error {
		var number int64
		var c contribution
		err := rows.Scan(&number, &c.day, &c.creator, &c.Given, &c.Taken, &c.Fee, &c.Affiliate, &c.Margin)
		known[number] = c
		return err
	}, `SELECT order_number, day, creator, given, taken, fee, affiliate, margin FROM order_values WHERE `+where, args...)
	return known, err
}

// pair is a creator of orders, by the number of its address, and a pair of chains; zeros mean any chains.
type pair struct{ creator, give, take int64 }

// firstDays returns the days on which creators created their first order, by pair of chains and for any.
func firstDays(ctx context.Context, tx *store.Tx, creators map[int64]bool) (map[pair]int64, error) {
	firsts := make(map[pair]int64)
	err := tx.ForEachRow(ctx, func(rows *sql.Rows) error {
		var p pair
		var day int64
		err := rows.Scan(&p.creator, &p.give, &p.take, &day)
		firsts[p] = day
		if first, is := firsts[pair{creator: p.creator}]; !is || day < first {
			firsts[pair{creator: p.creator}] = day
		}
		return err
	}, `SELECT creator, give_chain, take_chain, MIN(day) FROM order_values WHERE creator = ANY($1)
		GROUP BY creator, give_chain, take_chain`, slices.Collect(maps.Keys(creators)))
	return firsts, err
}

// sumUp are the statements that sum up a day: its pairs of chains, the creators between any chains, and its tokens.
var sumUp = []string{
	`DELETE FROM daily_statistics WHERE day = $1`,
	`INSERT INTO daily_statistics (day, give_chain, take_chain, created, fulfilled, active, unpriced, given, given_orders,
			taken, taken_orders, fee, fee_orders, affiliate, affiliate_orders, creators, new_creators)
		SELECT day, give_chain, take_chain, COUNT(*), COUNT(delivered_after), SUM(active), SUM(unpriced), COALESCE(SUM(given), 0), COUNT(given),
			COALESCE(SUM(taken), 0), COUNT(taken), COALESCE(SUM(fee), 0), COUNT(fee), COALESCE(SUM(affiliate), 0), COUNT(affiliate),
			COUNT(DISTINCT creator), COUNT(DISTINCT CASE WHEN NOT EXISTS (SELECT 1 FROM order_values e WHERE e.creator = v.creator
				AND e.give_chain = v.give_chain AND e.take_chain = v.take_chain AND e.day < v.day) THEN creator END)
		FROM order_values v WHERE day = $1 GROUP BY day, give_chain, take_chain`,
	`INSERT INTO daily_statistics (day, give_chain, take_chain, created, fulfilled, active, unpriced, given, given_orders,
			taken, taken_orders, fee, fee_orders, affiliate, affiliate_orders, creators, new_creators)
		SELECT day, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, COUNT(DISTINCT creator), COUNT(DISTINCT CASE WHEN NOT EXISTS (
			SELECT 1 FROM order_values e WHERE e.creator = v.creator AND e.day < v.day) THEN creator END)
		FROM order_values v WHERE day = $1 GROUP BY day`,
	`DELETE FROM order_tokens WHERE day = $1`,
	`INSERT INTO order_tokens (day, chain, address, orders) SELECT day, chain, address, COUNT(*) FROM (
			SELECT day, take_chain AS chain, take_token AS token, order_number FROM order_values WHERE day = $1
			UNION SELECT day, give_chain, give_token, order_number FROM order_values WHERE day = $1
		) AS used JOIN addresses ON address_number = token GROUP BY day, chain, address`,
	`DELETE FROM stale_days WHERE day = $1`,
}

// SumUp sums up the newest stale day, and reports whether more may be left.
func SumUp(ctx context.Context, db *store.DB, l store.Lease) (left bool, err error) {
	var day int64
	if left, err = db.QueryRow(ctx, []any{&day}, `SELECT day FROM stale_days ORDER BY day DESC LIMIT 1`); err != nil || !left {
		return false, err
	}
	return true, db.UpdateUnder(ctx, l, func(tx *store.Tx) error {
		for _, statement := range sumUp {
			if _, err := tx.ExecContext(ctx, statement, day); err != nil {
				return err
			}
		}
		return nil
	})
}
