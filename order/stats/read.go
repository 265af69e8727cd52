package stats

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/store"
)

// ErrUncounted says that so many indexed orders are still uncounted that statistics would be misleading.
var ErrUncounted = errors.New("statistics are still catching up with the index")

// How many uncounted orders and stale days statistics may lack: those of the last moments.
const (
	mostUncounted = 1000
	mostStale     = 31
)

// Daily returns the statistics of the UNIX days [from, to] by day and pair of chains, and those of each pair before
// from. Orders count on the day of their creation. It returns ErrUncounted while too many orders are uncounted.
func Daily(ctx context.Context, db *store.DB, from, to uint64) (days, before []order.DailyStatistics, err error) {
	days, err = sums(ctx, db, `day, give_chain, take_chain`, `give_chain > 0 AND day >= $1 AND day <= $2`, from, to)
	if err == nil {
		before, err = sums(ctx, db, `0, give_chain, take_chain`, `give_chain > 0 AND day < $1`, from)
	}
	return days, before, err
}

// AllTime returns the statistics of all orders. It returns ErrUncounted while too many orders are uncounted.
func AllTime(ctx context.Context, db *store.DB) (all order.Statistics, err error) {
	rows, err := sums(ctx, db, `0, 0, 0`, `give_chain > 0`)
	if err != nil || len(rows) == 0 {
		return all, err
	}
	anyPair, err := sums(ctx, db, `0, 0, 0`, `give_chain = 0`)
	if all = rows[0].Statistics; len(anyPair) > 0 {
		all.Creators, all.NewCreators = anyPair[0].NewCreators, anyPair[0].NewCreators
	}
	return all, err
}

// ValuesOf returns the values of an order's amounts at the time. isCounted is false until the order has been valued,
// shortly after it is indexed, and for orders that are not indexed.
func ValuesOf(ctx context.Context, db *store.DB, id order.ID) (v Values, isCounted bool, err error) {
	known, err := valued(ctx, db, `order_number = (SELECT number FROM orders WHERE `+store.PrefixOf(`id`)+` = $1 AND id = $2)`,
		store.Prefix(id[:]), id[:])
	for _, c := range known {
		v, isCounted = c.Values, true
	}
	return v, isCounted, err
}

const deliveredIn = `SELECT give_chain, take_chain, delivered_after, margin, COUNT(*) FROM order_values
	WHERE day >= $1 AND day <= $2
	GROUP BY give_chain, take_chain, delivered_after, margin ORDER BY give_chain, take_chain, delivered_after`

// DeliveryTimes returns the delivery times of orders created in the UNIX days [from, to], by pair of chains. It scans
// the index order_values_day, an entry per order. It returns ErrUncounted while too many orders are uncounted.
func DeliveryTimes(ctx context.Context, db *store.DB, from, to uint64) (times []order.DeliveryTimes, err error) {
	if err := checkCounted(ctx, db); err != nil {
		return nil, err
	}
	var of [2]chain.ID
	var all []order.Took
	finish := func() {
		if len(all) > 0 {
			times = append(times, order.TimesOf(of[0], of[1], all))
		}
		all = all[:0]
	}
	err = db.ForEachRow(ctx, func(rows *sql.Rows) error {
		var on [2]chain.ID
		var took order.Took
		err := rows.Scan(&on[0], &on[1], &took.Seconds, &took.Margin, &took.Orders)
		if on != of {
			finish()
		}
		of, all = on, append(all, took)
		return err
	}, deliveredIn, int64(min(from, mostStored)), int64(min(to, mostStored)))
	finish()
	return times, err
}

// sums adds up rows of daily_statistics by day, give chain and take chain; a 0 in place of a column adds up all.
func sums(ctx context.Context, db *store.DB, by, where string, days ...uint64) (all []order.DailyStatistics, err error) {
	if err := checkCounted(ctx, db); err != nil {
		return nil, err
	}
	var text strings.Builder
	text.WriteString(`SELECT ` + by)
	for _, column := range []string{
		"created", "fulfilled", "active", "unpriced", "given", "given_orders", "taken", "taken_orders", "fee", "fee_orders",
		"affiliate", "affiliate_orders", "creators", "new_creators",
	} {
		text.WriteString(`, CAST(SUM(` + column + `) AS BIGINT)`)
	}
	text.WriteString(` FROM daily_statistics WHERE ` + where + ` GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`)
	args := make([]any, len(days))
	for i, day := range days {
		args[i] = store.Number(day)
	}
	return store.All(ctx, db, func(rows *sql.Rows, d *order.DailyStatistics) error {
		return rows.Scan(&d.Day, &d.Give, &d.Take, &d.Created, &d.Fulfilled, &d.Active, &d.Unpriced, &d.Given.Micros, &d.Given.Orders,
			&d.Taken.Micros, &d.Taken.Orders, &d.Fee.Micros, &d.Fee.Orders, &d.Affiliate.Micros, &d.Affiliate.Orders,
			&d.Creators, &d.NewCreators)
	}, text.String(), args...)
}

// checkCounted returns ErrUncounted if too many orders are still uncounted, or all of them.
func checkCounted(ctx context.Context, db *store.DB) error {
	var waiting, stale int
	var isBegun bool
	_, err := db.QueryRow(ctx, []any{&waiting, &stale, &isBegun},
		`SELECT (SELECT COUNT(*) FROM (SELECT 1 AS one FROM uncounted LIMIT $1) AS waiting), (SELECT COUNT(*) FROM stale_days),
			EXISTS (SELECT 1 FROM daily_statistics)`, mostUncounted+1)
	if err == nil && (waiting > mostUncounted || stale > mostStale || waiting+stale > 0 && !isBegun) {
		err = ErrUncounted
	}
	return err
}
