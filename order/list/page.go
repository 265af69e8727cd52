package list

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"crossgate/order"
	"crossgate/store"
)

// Page is a part of a list, by default newest first: orders by the time of their creation, swaps by that of their
// block, those of the same second by id.
type Page struct {
	Items []Item
	Total uint64 // of all parts
}

// Item names an order or a swap.
type Item struct {
	ID     order.ID
	IsSwap bool
}

// So many rows are rather found by their cells, or by their values, and sorted than looked for among all rows by time.
const (
	mostSorted       = 1000
	mostSortedValues = 50_000
)

// Find returns the part of the list of a filter that begins at skip, counted from 0, and holds at most take.
func Find(ctx context.Context, db *store.DB, k Kind, f Filter, skip, take uint64) (p Page, err error) {
	s, totals := search{db: db, kind: k, filter: f}, []count(nil)
	if f.isCounted() {
		totals, err = s.periods(ctx)
		s.isFew = f.ReferralCode == nil && sum(totals) <= mostSorted
	}
	if err == nil && s.isFew {
		s.cells, err = s.matchingCells(ctx)
	}
	if err == nil && f.isCounted() && !s.isFew {
		err = s.lookAtParts(ctx, totals)
	} else if err == nil {
		totals = []count{{period: everything}}
		totals[0].rows, err = s.look(ctx, f)
	}
	if p.Total = sum(totals); err != nil || skip >= p.Total {
		return p, err
	}
	if f.Sort == Largest {
		totals = []count{{period: everything, rows: p.Total}}
	}
	if f.Sort != Oldest {
		p.Items, err = s.items(ctx, totals, skip, take)
		return p, err
	}
	take = min(take, p.Total-skip)
	p.Items, err = s.items(ctx, totals, p.Total-skip-take, take)
	slices.Reverse(p.Items)
	return p, err
}

// search is the search for a filter.
type search struct {
	db     *store.DB
	kind   Kind
	filter Filter
	isFew  bool    // so few rows match that they are rather found by their cells
	isMany bool    // so many match that they are rather looked for in the list's sequence
	cells  []int64 // in which they are, then
}

// count is how many rows match that came in a period.
type count struct{ period, rows uint64 }

// everything is the period of rows that are not counted by periods.
const everything = 1 << 40

func (c count) begin() uint64 { return c.period * periodSeconds }
func (c count) end() uint64   { return c.begin() + periodSeconds - 1 }

func sum(counts []count) (rows uint64) {
	for _, each := range counts {
		rows += each.rows
	}
	return rows
}

// periods counts the rows of all periods that the filter's time touches, newest first.
func (s *search) periods(ctx context.Context) (counts []count, err error) {
	var q query
	q.counts(s.kind, s.filter)
	q.add("period >= %s", store.Number(s.filter.Since/periodSeconds))
	if s.filter.Until > 0 {
		q.add("period <= %s", store.Number(s.filter.Until/periodSeconds))
	}
	counts, err = store.All(ctx, s.db, func(rows *sql.Rows, c *count) error { return rows.Scan(&c.period, &c.rows) },
		`SELECT period, CAST(SUM(listed) AS BIGINT) FROM listed_counts`+q.where()+` GROUP BY period ORDER BY period DESC`, q.arguments...)
	if err != nil {
		return nil, fmt.Errorf("count by periods: %w", err)
	}
	return counts, nil
}

// matchingCells returns the cells of a filter that asks for no referral code.
func (s *search) matchingCells(ctx context.Context) ([]int64, error) {
	var q query
	q.counts(s.kind, s.filter)
	cells, err := store.All(ctx, s.db, func(rows *sql.Rows, cell *int64) error { return rows.Scan(cell) },
		`SELECT DISTINCT cell FROM listed_counts`+q.where()+` AND listed > 0`, q.arguments...)
	if err != nil {
		return nil, fmt.Errorf("find cells: %w", err)
	}
	return cells, nil
}

// lookAtParts counts anew where only a part of a period is asked for.
func (s *search) lookAtParts(ctx context.Context, counts []count) (err error) {
	for i := range counts {
		c, f := &counts[i], s.filter
		if f.Since <= c.begin() && (f.Until == 0 || f.Until >= c.end()) {
			continue
		}
		f.Since, f.Until = max(f.Since, c.begin()), c.end()
		if s.filter.Until > 0 {
			f.Until = min(f.Until, s.filter.Until)
		}
		if c.rows, err = s.look(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// query requires what the filter asks for at other times.
func (s *search) query(f Filter) (q query) {
	q.kind(s.kind)
	byValue := f.Sort == Largest && s.isMany
	q.keys(f, func(column string) string {
		if byValue { // not by an index of the column
			return "COALESCE(" + column + ", " + column + ")"
		}
		return column
	})
	if s.isFew {
		q.add("cell = ANY(%s)", s.cells)
	} else {
		q.cells(f)
	}
	if f.Since > 0 {
		q.add("key >= %s", firstKey(f.Since))
	}
	if f.Until > 0 {
		q.add("key < %s", firstKey(clampedTime(f.Until)+1))
	}
	plus := ""
	if !byValue && (f.isPersonal() || s.isMany) {
		plus = "+"
	}
	q.values(f, plus)
	return q
}

// look counts rows by looking at each.
func (s *search) look(ctx context.Context, f Filter) (rows uint64, err error) {
	q := s.query(f)
	if _, err = s.db.QueryRow(ctx, []any{&rows}, `SELECT COUNT(*) FROM listed`+q.where(), q.arguments...); err != nil {
		return 0, fmt.Errorf("count: %w", err)
	}
	return rows, nil
}

// items reads a part, from the end of the period that it begins in.
func (s *search) items(ctx context.Context, counts []count, skip, take uint64) (items []Item, err error) {
	f := s.filter
	for _, c := range counts {
		if skip < c.rows {
			if c.period != everything && (f.Until == 0 || f.Until > c.end()) {
				f.Until = c.end()
			}
			break
		}
		skip -= c.rows
	}
	total := counts[0].rows
	s.isMany = total > mostSortedValues
	q, sequence := s.query(f), "key DESC"
	isBackwards := counts[0].period == everything && skip > total/2 && f.Sort != Largest // then the other end is nearer
	switch {
	case f.Sort == Largest:
		sequence = "usd DESC, key DESC"
	case isBackwards:
		sequence, take = "key", min(take, total-skip)
		skip = total - skip - take
	case s.isFew, f.isValued() && !s.isMany:
		sequence = "+key DESC" // sorted
	}
	items, err = store.All(ctx, s.db, func(rows *sql.Rows, item *Item) error {
		return rows.Scan(store.HashColumn(&item.ID), &item.IsSwap)
	}, `SELECT id, cell % 8 = 7 FROM listed WHERE key IN (SELECT key FROM listed`+q.where()+` ORDER BY `+sequence+
		` LIMIT `+q.argument(store.Number(take))+` OFFSET `+q.argument(store.Number(skip))+`) ORDER BY `+sequence, q.arguments...)
	if err != nil {
		return nil, fmt.Errorf("read a part: %w", err)
	}
	if isBackwards {
		slices.Reverse(items)
	}
	return items, nil
}
