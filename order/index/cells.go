package index

import (
	"cmp"
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
	at, err := s.counted(ctx, f)
	if total = at.total; err != nil || skip >= total {
		return nil, total, err
	}
	var q listQuery
	if at.areFew(take) {
		q.cells(at.narrowed, "")
		q.times(f, "created")
		ids, err = s.page(ctx, q, sortedNewestFirst, skip, take)
		return ids, total, err
	}
	if skip, err = s.approach(ctx, &f, at.days, skip); err != nil {
		return nil, 0, err
	}
	q.cells(f, "+")
	q.times(f, "created")
	ids, err = s.page(ctx, q, newestFirst, skip, take)
	return ids, total, err
}

// counted is what the counts say of a filter.
type counted struct {
	everything uint64     // orders that are listed
	matching   uint64     // of them, those in the cells that the filter asks for, of any day
	total      uint64     // of those, the ones that were created when the filter asks for
	days       []dayCount // these by day, newest first; nil where the filter does not ask for a time
	narrowed   Filter     // which names the chains and states of the matching ones
}

// dayCount is how many orders of a list were created on a UNIX day.
type dayCount struct{ day, orders uint64 }

// areFew reports whether sorting the matching orders reads fewer rows than looking for them among all orders by time.
func (c counted) areFew(take uint64) bool { return c.matching*c.matching <= c.everything*take }

func (s orderStore) counted(ctx context.Context, f Filter) (c counted, err error) {
	_, err = s.QueryRow(ctx, []any{&c.everything}, `SELECT COALESCE(SUM(orders), 0) FROM order_counts WHERE day = $1`, anyDay)
	if err != nil {
		return c, err
	}
	if c.narrowed, c.matching = f, c.everything; f.asksForCells() {
		if err := s.narrow(ctx, &c, f); err != nil {
			return c, err
		}
	}
	if c.total = c.matching; c.matching > 0 && (f.Since > 0 || f.Until > 0) {
		c.total, c.days, err = s.countDays(ctx, f)
	}
	return c, err
}

// asksForCells reports whether the filter holds of some of the cells only, whatever their days.
func (f Filter) asksForCells() bool {
	return len(f.GiveChains) > 0 || len(f.TakeChains) > 0 || len(f.States) > 0 || len(f.Calls) > 0 || f.TradeType != ""
}

// narrow finds which cells the filter holds of, of any day.
func (s orderStore) narrow(ctx context.Context, c *counted, f Filter) error {
	gives, takes, states := &c.narrowed.GiveChains, &c.narrowed.TakeChains, &c.narrowed.States
	*gives, *takes, *states, c.matching = nil, nil, nil, 0
	var q listQuery
	q.add("day = %s", anyDay)
	q.cells(f, "")
	err := s.ForEachRow(ctx, func(rows *sql.Rows) error {
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
	return err
}

func distinct[N chain.ID | order.State](values []N) []N {
	slices.Sort(values)
	return slices.Compact(values)
}

// day is the UNIX day of a time.
func day(at uint64) uint64 { return at / secondsOfDay }

// startOf is when a day begins.
func startOf(day uint64) uint64 { return day * secondsOfDay }

// countDays counts orders of some time, in all and by day, newest first.
func (s orderStore) countDays(ctx context.Context, f Filter) (total uint64, days []dayCount, err error) {
	total, err = inDays(f.Since, f.Until, func(first, end uint64) (orders uint64, err error) {
		var q listQuery
		q.add("day >= %s AND day < %s", clamped(first), clamped(end))
		q.cells(f, "")
		err = s.ForEachRow(ctx, func(rows *sql.Rows) error {
			var on dayCount
			err := rows.Scan(&on.day, &on.orders)
			days = append(days, on)
			orders += on.orders
			return err
		}, `SELECT day, SUM(orders) FROM order_counts`+q.where()+` GROUP BY day`, q.args...)
		return orders, err
	}, func(since, until uint64) (uint64, error) {
		orders, err := s.look(ctx, f, since, until)
		days = append(days, dayCount{day(until), orders})
		return orders, err
	})
	slices.SortFunc(days, func(a, b dayCount) int { return cmp.Compare(b.day, a.day) })
	return total, days, err
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
// how many of its orders are to be skipped from there. days are those of a filter that asks for a time.
func (s orderStore) approach(ctx context.Context, f *Filter, days []dayCount, skip uint64) (left uint64, err error) {
	if days != nil {
		on, left, _ := dayAt(days, skip)
		if end := startOf(on+1) - 1; f.Until == 0 || end < f.Until {
			f.Until = end
		}
		return left, nil
	}
	var q listQuery
	q.cells(*f, "")
	q.add("day >= 0")
	// Mostly the part begins on one of the last days, and each has hundreds of cells.
	for _, most := range []int{2, 32, 1 << 31} {
		days, err := s.lastDays(ctx, q, most)
		if err != nil {
			return 0, err
		}
		if on, left, found := dayAt(days, skip); found {
			f.Until = startOf(on+1) - 1
			return left, nil
		}
	}
	return skip, nil
}

// lastDays counts the orders of a query's last days that have any, newest first.
func (s orderStore) lastDays(ctx context.Context, q listQuery, most int) (days []dayCount, err error) {
	err = s.ForEachRow(ctx, func(rows *sql.Rows) error {
		var on dayCount
		err := rows.Scan(&on.day, &on.orders)
		days = append(days, on)
		return err
	}, `SELECT day, SUM(orders) FROM order_counts`+q.where()+` GROUP BY day ORDER BY day DESC LIMIT `+q.arg(most), q.args...)
	return days, err
}

// dayAt returns the day on which the order at skip was created, and how many orders are before it on that day.
func dayAt(days []dayCount, skip uint64) (on, left uint64, found bool) {
	for _, each := range days {
		if skip < each.orders {
			return each.day, skip, true
		}
		skip -= each.orders
	}
	return 0, skip, false
}
