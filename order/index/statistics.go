package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"crossgate/chain"
	"crossgate/order"
)

// ErrUncounted says that so many orders, or all, are still to be counted that statistics would mislead.
var ErrUncounted = errors.New("orders that were indexed are not counted yet")

// mostUncounted is how many orders may be missing from statistics: those of the last moments.
const mostUncounted = 1000

// Daily returns the statistics of days from one to another, both included, by day and pair of chains, and what each
// pair had before the first. Orders count for the day of their creation. Errors are those of List, and ErrUncounted.
func (x *Index) Daily(ctx context.Context, from, to uint64) (days, before []order.DailyStatistics, basis Basis, err error) {
	basis = x.Basis()
	if err := x.checkReadable(ctx); err != nil {
		return nil, nil, basis, fmt.Errorf("daily statistics: %w", err)
	}
	days, err = x.lists.statistics(ctx, `day, give_chain, take_chain`, `give_chain > 0 AND day >= $1 AND day <= $2`, clamped(from), clamped(to))
	if err == nil {
		before, err = x.lists.statistics(ctx, `0, give_chain, take_chain`, `give_chain > 0 AND day < $1`, clamped(from))
	}
	return days, before, basis, err
}

// AllTime returns the statistics of all orders.
func (x *Index) AllTime(ctx context.Context) (all order.Statistics, basis Basis, err error) {
	basis = x.Basis()
	if err := x.checkReadable(ctx); err != nil {
		return all, basis, fmt.Errorf("statistics of all time: %w", err)
	}
	all, err = x.lists.allTime(ctx)
	return all, basis, err
}

// DeliveryTimes returns how long the orders took that were created from one UNIX day to another, both included, by pair
// of chains. It reads the index order_values_delivered, an entry for each of these orders. Errors are those of Daily.
func (x *Index) DeliveryTimes(ctx context.Context, from, to uint64) (times []order.DeliveryTimes, basis Basis, err error) {
	basis = x.Basis()
	if err := x.checkReadable(ctx); err != nil {
		return nil, basis, fmt.Errorf("delivery times: %w", err)
	}
	times, err = x.lists.deliveryTimes(ctx, from, to)
	return times, basis, err
}

func (s orderStore) deliveryTimes(ctx context.Context, from, to uint64) (times []order.DeliveryTimes, err error) {
	if err := s.checkCounted(ctx); err != nil {
		return nil, err
	}
	switch _, isLeft, err := s.fillingAt(ctx); {
	case err != nil:
		return nil, unavailable(ctx, fmt.Errorf("delivery times: %w", err))
	case isLeft:
		return nil, ErrUncounted
	}
	var of pair
	var all []order.Took
	finish := func() {
		if len(all) > 0 {
			times = append(times, order.TimesOf(chain.ID(of.give), chain.ID(of.take), all))
		}
		all = all[:0]
	}
	err = s.ForEachRow(ctx, func(rows *sql.Rows) error {
		var on pair
		var took order.Took
		err := rows.Scan(&on.give, &on.take, &took.Seconds, &took.Orders)
		if on != of {
			finish()
		}
		of, all = on, append(all, took)
		return err
	}, deliveredIn, clamped(from), clamped(to))
	finish()
	if err != nil {
		return nil, unavailable(ctx, fmt.Errorf("delivery times: %w", err))
	}
	return times, nil
}

const deliveredIn = `SELECT give_chain, take_chain, delivered_after, COUNT(*) FROM order_values
	WHERE delivered_after IS NOT NULL AND day >= $1 AND day <= $2
	GROUP BY give_chain, take_chain, delivered_after ORDER BY give_chain, take_chain, delivered_after`

// Values returns what an order's amounts were worth at the time, and whether that was looked up: for an order that is
// indexed a moment after its creation, for others never. ErrUnavailable while the store cannot be read.
func (x *Index) Values(ctx context.Context, id order.ID) (v Values, counted bool, err error) {
	known, err := contributionsOf(ctx, x.store, []order.ID{id})
	if err != nil {
		return Values{}, false, unavailable(ctx, fmt.Errorf("values of order %s: %w", id, err))
	}
	c, counted := known[id]
	return c.Values, counted, nil
}

func (s orderStore) allTime(ctx context.Context) (all order.Statistics, err error) {
	rows, err := s.statistics(ctx, `0, 0, 0`, `give_chain > 0`)
	if err != nil {
		return all, err
	}
	anybody, err := s.statistics(ctx, `0, 0, 0`, `give_chain = 0`)
	if len(rows) > 0 {
		all = rows[0].Statistics
	}
	if len(anybody) > 0 {
		all.Creators, all.NewCreators = anybody[0].NewCreators, anybody[0].NewCreators
	}
	return all, err
}

// clamped is a number as databases have them.
func clamped(n uint64) int64 { return int64(min(n, 1<<62)) }

// statistics sums rows of daily_statistics up, by three columns.
func (s orderStore) statistics(ctx context.Context, by, where string, args ...any) (all []order.DailyStatistics, err error) {
	if err := s.checkCounted(ctx); err != nil {
		return nil, err
	}
	sums := make([]string, len(figureColumns))
	for i, column := range figureColumns {
		sums[i] = "CAST(SUM(" + column + ") AS BIGINT)"
	}
	err = s.ForEachRow(ctx, func(rows *sql.Rows) error {
		var d order.DailyStatistics
		err := rows.Scan(&d.Day, &d.Give, &d.Take, &d.Created, &d.Fulfilled, &d.Active, &d.Unpriced, &d.Given.Micros, &d.Given.Orders,
			&d.Taken.Micros, &d.Taken.Orders, &d.Fee.Micros, &d.Fee.Orders, &d.Affiliate.Micros, &d.Affiliate.Orders,
			&d.Creators, &d.NewCreators)
		all = append(all, d)
		return err
	}, `SELECT `+by+`, `+strings.Join(sums, ", ")+` FROM daily_statistics WHERE `+where+groupedBy(by), args...)
	if err != nil {
		return nil, unavailable(ctx, fmt.Errorf("statistics: %w", err))
	}
	return all, nil
}

// checkCounted returns ErrUncounted when too many orders are still to be counted, or all that there are.
func (s orderStore) checkCounted(ctx context.Context) error {
	var waiting int
	var isBegun bool
	_, err := s.QueryRow(ctx, []any{&waiting, &isBegun},
		`SELECT (SELECT COUNT(*) FROM (SELECT 1 AS one FROM uncounted LIMIT $1) AS waiting), EXISTS (SELECT 1 FROM order_values)`, mostUncounted+1)
	if err != nil {
		return unavailable(ctx, fmt.Errorf("statistics: %w", err))
	}
	if waiting > mostUncounted || waiting > 0 && !isBegun {
		return ErrUncounted
	}
	return nil
}

// groupedBy groups by those of three columns that are none of 0.
func groupedBy(by string) string {
	columns := strings.ReplaceAll(by, "0, ", "")
	if columns == "0" {
		return ` HAVING COUNT(*) > 0`
	}
	return ` GROUP BY ` + columns + ` ORDER BY ` + columns
}
