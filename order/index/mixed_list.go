package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"crossgate/order"
	"crossgate/store"
)

// MixedItem is an order or a swap: the other one is nil.
type MixedItem struct {
	Order *order.Order
	Swap  *order.Swap
}

// MixedList is a part of the orders and swaps that a filter holds of, newest first: orders by the time of their
// creation, swaps by that of their block, those of the same second by id.
type MixedList struct {
	Items []MixedItem
	Total uint64 // of all parts
}

// ListMixed returns the orders and the swaps that a filter holds of (see List and ListSwaps, also for errors) from the
// one at skip, counted from 0, at most take. The basis is that of ListSwaps.
func (x *Index) ListMixed(ctx context.Context, f Filter, skip, take uint64) (MixedList, Basis, error) {
	basis := x.Basis()
	if x.store.withoutSwaps {
		return MixedList{}, basis, ErrWithoutSwaps
	}
	if err := x.checkReadable(ctx); err != nil {
		return MixedList{}, basis, fmt.Errorf("list orders and swaps: %w", err)
	}
	if err := x.store.limitToSwaps(ctx, &basis); err != nil {
		return MixedList{}, basis, err
	}
	listed, err := x.lists.listMixed(ctx, f, skip, take)
	return listed, basis, err
}

func (s orderStore) listMixed(ctx context.Context, f Filter, skip, take uint64) (l MixedList, err error) {
	if !f.mayHoldOfSwaps() {
		orders, err := s.list(ctx, f, skip, take)
		l.Total = orders.Total
		for _, o := range orders.Orders {
			l.Items = append(l.Items, MixedItem{Order: o})
		}
		return l, err
	}
	defer func() {
		if err != nil && !errors.Is(err, ErrUnlisted) {
			err = unavailable(ctx, fmt.Errorf("list orders and swaps: %w", err))
		}
	}()
	behind, err := s.unlisted(ctx)
	if err != nil || behind {
		return MixedList{}, errors.Join(err, ErrUnlisted)
	}
	of := mixedFilter{Filter: f}
	if of.total, of.few, err = s.countOrders(ctx, f, take); err != nil {
		return MixedList{}, err
	}
	swaps, err := s.countSwaps(ctx, f)
	if l.Total = of.total + swaps; err != nil || skip >= l.Total {
		return l, err
	}
	if skip, err = s.approachMixed(ctx, &of, skip); err != nil {
		return MixedList{}, err
	}
	l.Items, err = s.mixedPage(ctx, of, skip, take)
	return l, err
}

// mixedFilter is a filter with what is known of the orders that it holds of.
type mixedFilter struct {
	Filter
	total uint64
	few   *Filter // names their chains and states where sorting them is better than looking for them by time
}

// countOrders returns how many orders a filter holds of, and the narrowed filter where they are few.
func (s orderStore) countOrders(ctx context.Context, f Filter, take uint64) (total uint64, few *Filter, err error) {
	if f.isKeyed() {
		var q listQuery
		q.orders(f)
		total, err = s.countKeyed(ctx, f, q)
		return total, nil, err
	}
	at, err := s.counted(ctx, f)
	if at.areFew(take) {
		few = &at.narrowed
	}
	return at.total, few, err
}

// orders demands what a filter does of an order. Databases search by what few orders have, or by time.
func (q *listQuery) orders(f Filter) {
	q.keys(f)
	q.cells(f, "+")
	q.times(f, "created")
}

// union collects statements whose rows are put together, and their arguments.
type union struct {
	selectionQuery
	parts []string
}

// add adds what is selected from a table of the rows that demand asks for.
func (u *union) add(selected, table string, demand func(*listQuery)) {
	q := listQuery{selectionQuery: u.selectionQuery}
	demand(&q)
	u.selectionQuery = q.selectionQuery
	u.parts = append(u.parts, `SELECT `+selected+` FROM `+table+q.where())
}

func (u *union) text() string { return strings.Join(u.parts, " UNION ALL ") }

// mixedPage reads a part of both tables in one sequence. Databases read both by their indexes and merge what they read.
func (s orderStore) mixedPage(ctx context.Context, f mixedFilter, skip, take uint64) ([]MixedItem, error) {
	var u union
	u.add(`id, block_time AS at, 1 AS is_swap`, `swaps`, func(q *listQuery) { q.swaps(f.Filter) })
	switch {
	case f.total == 0:
	case f.few != nil:
		u.add(`id, +created, 0`, `order_list`, func(q *listQuery) {
			q.cells(*f.few, "")
			q.times(f.Filter, "created")
		})
	default:
		u.add(`id, created, 0`, `order_list`, func(q *listQuery) { q.orders(f.Filter) })
	}
	statement := u.text() + ` ORDER BY at DESC, id LIMIT ` + u.arg(clamped(take)) + ` OFFSET ` + u.arg(clamped(skip))
	type place struct {
		id     order.ID
		isSwap bool
	}
	var places []place
	var orders, swaps []order.ID
	err := s.ForEachRow(ctx, func(rows *sql.Rows) error {
		var p place
		var at uint64
		if err := rows.Scan(store.HashColumn(&p.id), &at, &p.isSwap); err != nil {
			return err
		}
		if places = append(places, p); p.isSwap {
			swaps = append(swaps, p.id)
		} else {
			orders = append(orders, p.id)
		}
		return nil
	}, statement, u.args...)
	if err != nil {
		return nil, err
	}
	events, err := eventsOfAll(ctx, s, orders)
	if err != nil {
		return nil, err
	}
	made, err := s.swapsByID(ctx, swaps)
	if err != nil {
		return nil, err
	}
	var items []MixedItem
	for _, p := range places {
		// What a reorg has taken away meanwhile is left out.
		if o, _ := order.Fold(events[p.id]); o != nil && o.Created != nil {
			items = append(items, MixedItem{Order: o})
		}
		if swap := made[p.id]; swap != nil {
			items = append(items, MixedItem{Swap: swap})
		}
	}
	return items, nil
}

// approachMixed moves the end of a filter's time back to that of the day of what is at skip, and returns how much of
// that day is to be skipped from there.
func (s orderStore) approachMixed(ctx context.Context, f *mixedFilter, skip uint64) (left uint64, err error) {
	if skip < skippedOneByOne {
		return skip, nil
	}
	var u union
	u.ordersByDay(f.Filter)
	u.swapsByDay(f.Filter)
	left, found := skip, false
	err = s.ForEachRow(ctx, func(rows *sql.Rows) error {
		var on, n uint64
		if err := rows.Scan(&on, &n); err != nil || found {
			return err
		}
		if found = left < n; !found {
			left -= n
			return nil
		}
		if last := startOf(on+1) - 1; f.Until == 0 || last < f.Until {
			f.Until = last
		}
		return nil
	}, `SELECT on_day, SUM(n) FROM (`+u.text()+`) AS days GROUP BY on_day ORDER BY on_day DESC`, u.args...)
	return left, err
}

// ordersByDay counts the orders that a filter holds of by the UNIX day of their creation; of the day of Since all.
func (u *union) ordersByDay(f Filter) {
	each := func(f Filter) {
		u.add(fmt.Sprintf(`created / %d AS on_day, 1 AS n`, secondsOfDay), `order_list`, func(q *listQuery) { q.orders(f) })
	}
	if f.isKeyed() {
		each(f)
		return
	}
	u.add(`day AS on_day, orders AS n`, `order_counts`, func(q *listQuery) {
		q.cells(f, "")
		q.days(f)
	})
	if f.Until > 0 { // of the last day only a part is asked for
		f.Since = max(f.Since, startOf(day(f.Until)))
		each(f)
	}
}

// swapsByDay is ordersByDay of swaps.
func (u *union) swapsByDay(f Filter) {
	each := func(f Filter) {
		u.add(fmt.Sprintf(`block_time / %d, 1`, secondsOfDay), `swaps`, func(q *listQuery) { q.swaps(f) })
	}
	if f.isKeyed() {
		each(f)
		return
	}
	u.add(`day, swaps`, `swap_counts`, func(q *listQuery) {
		q.swapChains(f)
		q.days(f)
	})
	if f.Until > 0 {
		f.Since = max(f.Since, startOf(day(f.Until)))
		each(f)
	}
}

// days demands the days of a filter's time but for the last one, of which only a part is asked for.
func (q *listQuery) days(f Filter) {
	q.add("day >= %s", clamped(day(f.Since)))
	if f.Until > 0 {
		q.add("day < %s", clamped(day(f.Until)))
	}
}
