package index

import (
	"context"
	"database/sql"
	"slices"

	"crossgate/chain"
	"crossgate/order"
)

// Orders are counted by cells (order_counts), so that lists which are asked for by nothing else need not count their
// orders, nor read those that are skipped: the counts tell on which day the wanted part begins.

// listCells returns a part of the orders that a filter without a key holds of, and how many these are.
func (s orderStore) listCells(ctx context.Context, f Filter, skip, take uint64) (ids []order.ID, total uint64, err error) {
	at, total, err := s.total(ctx, f)
	if err != nil || skip >= total {
		return nil, total, err
	}
	var q listQuery
	if at.areFew(take) {
		q.cells(at.narrowed, "")
		q.times(f, "created")
		ids, err = s.page(ctx, q, sortedNewestFirst, skip, take)
		return ids, total, err
	}
	if skip, err = s.approach(ctx, &f, skip); err != nil {
		return nil, 0, err
	}
	q.cells(f, "+")
	q.times(f, "created")
	ids, err = s.page(ctx, q, newestFirst, skip, take)
	return ids, total, err
}

// total returns how many orders a filter without a key holds of, and what the counts of any day say of it.
func (s orderStore) total(ctx context.Context, f Filter) (at counted, total uint64, err error) {
	if at, err = s.counted(ctx, f); err != nil || at.matching == 0 || f.Since == 0 && f.Until == 0 {
		return at, at.matching, err
	}
	total, err = s.countBetween(ctx, f)
	return at, total, err
}

// counted is what the counts of any day say of a filter.
type counted struct {
	everything uint64 // orders that are listed
	matching   uint64 // of them, those in the cells that the filter asks for
	narrowed   Filter // which names the chains and states of these
}

// areFew reports whether sorting the matching orders reads fewer rows than looking for them among all orders by time.
func (c counted) areFew(take uint64) bool { return c.matching*c.matching <= c.everything*take }

func (s orderStore) counted(ctx context.Context, f Filter) (c counted, err error) {
	_, err = s.QueryRow(ctx, []any{&c.everything}, `SELECT COALESCE(SUM(orders), 0) FROM order_counts WHERE day = $1`, anyDay)
	if err != nil {
		return c, err
	}
	c.narrowed = f
	gives, takes, states := &c.narrowed.GiveChains, &c.narrowed.TakeChains, &c.narrowed.States
	*gives, *takes, *states = nil, nil, nil
	var q listQuery
	q.add("day = %s", anyDay)
	q.cells(f, "")
	err = s.ForEachRow(ctx, func(rows *sql.Rows) error {
		var give, take chain.ID
		var state order.State
		var n uint64
		err := rows.Scan(&give, &take, &state, &n)
		*gives, *takes, *states = append(*gives, give), append(*takes, take), append(*states, state)
		c.matching += n
		return err
	}, `SELECT give_chain, take_chain, state, SUM(orders) FROM order_counts`+q.where()+
		` GROUP BY give_chain, take_chain, state`, q.args...)
	*gives, *takes, *states = distinct(*gives), distinct(*takes), distinct(*states)
	return c, err
}

func distinct[N chain.ID | order.State](values []N) []N {
	slices.Sort(values)
	return slices.Compact(values)
}

// day is the UNIX day of a time.
func day(at uint64) uint64 { return at / secondsOfDay }

// startOf is when a day begins.
func startOf(day uint64) uint64 { return day * secondsOfDay }

// countBetween counts orders of some time.
func (s orderStore) countBetween(ctx context.Context, f Filter) (orders uint64, err error) {
	return inDays(f.Since, f.Until, func(first, end uint64) (orders uint64, err error) {
		var q listQuery
		q.add("day >= %s AND day < %s", clamped(first), clamped(end))
		q.cells(f, "")
		_, err = s.QueryRow(ctx, []any{&orders}, `SELECT COALESCE(SUM(orders), 0) FROM order_counts`+q.where(), q.args...)
		return orders, err
	}, func(since, until uint64) (uint64, error) { return s.look(ctx, f, since, until) })
}

// inDays adds up what is in a time, both ends included, until 0 for any: its whole days, from a first to before an end,
// and the rest by looking at each.
func inDays(since, until uint64, whole, look func(from, to uint64) (uint64, error)) (count uint64, err error) {
	const never = 1 << 40 // in 30 000 years
	if until == 0 || until > never {
		until = never
	}
	if since > until {
		return 0, nil
	}
	first, end := day(since+secondsOfDay-1), day(until+1)
	if first >= end {
		return look(since, until)
	}
	if count, err = whole(first, end); err != nil {
		return 0, err
	}
	for _, edge := range [][2]uint64{{since, startOf(first)}, {startOf(end), until + 1}} {
		if edge[0] >= edge[1] {
			continue
		}
		n, err := look(edge[0], edge[1]-1)
		if err != nil {
			return 0, err
		}
		count += n
	}
	return count, nil
}

// look counts the orders of a time by looking at each.
func (s orderStore) look(ctx context.Context, f Filter, since, until uint64) (orders uint64, err error) {
	var q listQuery
	f.Since, f.Until = since, until
	q.cells(f, "+")
	q.add("created >= %s AND created <= %s", clamped(since), clamped(until))
	_, err = s.QueryRow(ctx, []any{&orders}, `SELECT COUNT(*) FROM order_list`+q.where(), q.args...)
	return orders, err
}

// approach moves the end of a filter's time back to that of the day on which the order at skip was created, and returns
// how many of its orders are to be skipped from there.
func (s orderStore) approach(ctx context.Context, f *Filter, skip uint64) (left uint64, err error) {
	var q listQuery
	q.cells(*f, "")
	q.add("day >= 0")
	if f.Until > 0 {
		// The last day, of which only a part is asked for.
		last := startOf(day(f.Until))
		n, err := s.look(ctx, *f, max(last, f.Since), f.Until)
		if err != nil || skip < n || last == 0 {
			return skip, err
		}
		skip -= n
		q.add("day < %s", clamped(day(f.Until)))
	}
	// Mostly the part begins on one of the last days.
	for _, days := range []int{32, 1 << 31} {
		begin, left, found, err := s.dayAt(ctx, q, days, skip)
		if found || err != nil {
			f.Until = startOf(begin+1) - 1
			return left, err
		}
	}
	return skip, nil
}

// dayAt returns the day on which an order was created, of the orders of the last days that a query counts, and how many
// of these are after it on that day.
func (s orderStore) dayAt(ctx context.Context, q listQuery, days int, skip uint64) (on, left uint64, found bool, err error) {
	left = skip
	err = s.ForEachRow(ctx, func(rows *sql.Rows) error {
		var counted, n uint64
		if err := rows.Scan(&counted, &n); err != nil || found {
			return err
		}
		if found = left < n; found {
			on = counted
			return nil
		}
		left -= n
		return nil
	}, `SELECT day, SUM(orders) FROM order_counts`+q.where()+` GROUP BY day ORDER BY day DESC LIMIT `+q.arg(days), q.args...)
	return on, left, found, err
}
