package list

import (
	"context"
	"database/sql"
	"math"
	"slices"

	"crossgate/order"
	"crossgate/store"
)

// Page is a part of a list, by default newest first: orders by the time of their creation, swaps by that of their
// block, and rows of the same second by ID.
type Page struct {
	Items []Item
	Total uint64 // rows of the whole list
}

// Item identifies an order or a swap.
type Item struct {
	ID     order.ID
	IsSwap bool
}

// Up to this number of rows, it is faster to find them by cell, token or value and sort them than to look for them
// among all rows in time order.
const (
	mostSorted       = 1000
	mostSortedValues = 50_000
)

// Find returns the part of a filtered list that begins at skip, counted from 0, with at most take items.
func Find(ctx context.Context, db *store.DB, k Kind, f Filter, skip, take uint64) (p Page, err error) {
	s := search{db: db, kind: k, filter: f}
	totals, err := s.count(ctx)
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

// search is the state of a search with a filter.
type search struct {
	db     *store.DB
	kind   Kind
	filter Filter
	isFew  bool    // so few rows match that they are found by their cells
	isMany bool    // so many rows match that they are looked for in list order
	cells  []int64 // cells of the matching rows if isFew
	common [2]bool // by side: its token is in more rows than that of the other side
}

// count is the number of matching rows in a period.
type count struct {
	period int64
	rows   uint64
}

// everything is the period of a count that spans all periods.
const everything = 1 << 40

func (c count) begin() uint64 { return uint64(c.period) * periodSeconds }
func (c count) end() uint64   { return c.begin() + periodSeconds - 1 }

func sum(counts []count) (rows uint64) {
	for _, each := range counts {
		rows += each.rows
	}
	return rows
}

// count counts the matching rows: by period, newest first, or all in one.
func (s *search) count(ctx context.Context) (totals []count, err error) {
	f, of := s.filter, s.filter.countings()
	all := count{period: everything}
	switch isTimed := f.Since > 0 || f.Until > 0; {
	case f.isPersonal() || len(of) > 1 || of[0].isRange() && isTimed:
		if err = s.compareTokens(ctx); err == nil {
			all.rows, err = s.look(ctx, f)
		}
	case of[0].isRange():
		all.rows, err = s.countRange(ctx, of[0])
	default:
		if totals, err = s.periods(ctx, of[0]); err != nil || !s.isFew {
			return totals, err
		}
		if s.cells, err = s.matchingCells(ctx, of[0]); err == nil {
			all.rows, err = s.look(ctx, f)
		}
	}
	s.isMany = all.rows > mostSortedValues
	return []count{all}, err
}

// compareTokens finds out which of two tokens is in fewer rows: its index is used.
func (s *search) compareTokens(ctx context.Context) error {
	var rows [2]uint64
	for side, token := range s.filter.tokens() {
		if token.IsAbsent() || s.filter.isPersonal() {
			return nil
		}
		alone := Filter{GiveToken: token}
		if side == 1 {
			alone = Filter{TakeToken: token}
		}
		counts, err := s.counted(ctx, alone.countings()[0], 0, everything)
		if err != nil {
			return err
		}
		rows[side] = sum(counts)
	}
	s.common = [2]bool{rows[0] > rows[1], rows[0] <= rows[1]}
	return nil
}

// periods counts the matching rows of all periods that overlap the filter's time, newest first.
func (s *search) periods(ctx context.Context, of counting) (totals []count, err error) {
	f, until, most := s.filter, int64(everything), uint64(mostSortedValues)
	if f.Until > 0 {
		until = store.Number(f.Until / periodSeconds)
	}
	if totals, err = s.counted(ctx, of, store.Number(f.Since/periodSeconds), until); err != nil {
		return nil, err
	}
	if f.namesTokens() && f.Sort != Largest { // the period to search is known
		most = mostSorted
	}
	total := sum(totals)
	s.isFew, s.isMany = of.subject == ofAllRows && total <= mostSorted, total > most
	if !s.isMany {
		err = s.compareTokens(ctx)
	}
	if err == nil && !s.isFew {
		err = s.lookAtParts(ctx, totals)
	}
	return totals, err
}

// counted returns the counts of some periods or ranges of amounts.
func (s *search) counted(ctx context.Context, of counting, from, to int64) ([]count, error) {
	var q query
	q.counts(s.kind, s.filter, of)
	q.add("period >= %s", from)
	q.add("period <= %s", to)
	return store.All(ctx, s.db, func(rows *sql.Rows, c *count) error { return rows.Scan(&c.period, &c.rows) },
		`SELECT period, CAST(SUM(listed) AS BIGINT) FROM listed_counts`+q.where()+` GROUP BY period ORDER BY period DESC`, q.arguments...)
}

// countRange counts the rows in a range of amounts; for the first and the last bucket it reads the rows.
func (s *search) countRange(ctx context.Context, of counting) (rows uint64, err error) {
	first, end, ends := int64(0), int64(math.MaxInt64), []Amounts(nil)
	if from := of.amounts.From; from != nil {
		first = bucketOf(*from) + 1
		ends = append(ends, Amounts{from, lastBefore(first)})
	}
	if to := of.amounts.To; to != nil {
		if end = bucketOf(*to); end < first {
			ends[0].To = to
		} else {
			ends = append(ends, Amounts{new(leastIn(end)), to})
		}
	}
	for _, each := range ends {
		looked, err := s.look(ctx, of.within(each))
		if err != nil {
			return 0, err
		}
		rows += looked
	}
	whole, err := s.counted(ctx, of, -end, -1-first)
	return rows + sum(whole), err
}

// matchingCells returns the cells of matching rows, for a filter without a referral code.
func (s *search) matchingCells(ctx context.Context, of counting) ([]int64, error) {
	var q query
	q.counts(s.kind, s.filter, of)
	return store.All(ctx, s.db, func(rows *sql.Rows, cell *int64) error { return rows.Scan(cell) },
		`SELECT DISTINCT cell FROM listed_counts`+q.where()+` AND listed > 0`, q.arguments...)
}

// lookAtParts counts again, by reading rows, the periods that the filter covers only partly.
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

// query returns the conditions of the search's filter, with a different time.
func (s *search) query(f Filter) (q query) {
	if s.kind != Orders || !f.isOfOrders() {
		q.kind(s.kind)
	}
	asIs := func(column string) string { return column }
	unindexed := func(column string) string { return "COALESCE(" + column + ", " + column + ")" }
	byValue, people := f.Sort == Largest && s.isMany, asIs
	if byValue {
		people = unindexed
	}
	q.keys(f, people, func(side int) string { // for numbers, a plus has the same effect
		if s.isMany || f.isPersonal() || s.common[side] {
			return "+"
		}
		return ""
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
	if !byValue && (f.isPersonal() || f.namesTokens() || s.isMany) {
		plus = "+"
	}
	q.values(f, plus)
	return q
}

// look counts matching rows by reading them.
func (s *search) look(ctx context.Context, f Filter) (rows uint64, err error) {
	q := s.query(f)
	_, err = s.db.QueryRow(ctx, []any{&rows}, `SELECT COUNT(*) FROM listed`+q.where(), q.arguments...)
	return rows, err
}

// items reads a part of the list, starting at the end of the period that it begins in.
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
	q, sequence := s.query(f), "key DESC"
	isSorted := s.isFew || (f.isValued() || f.namesTokens()) && !f.isPersonal() && !s.isMany
	// Read from the other end if that is nearer.
	isBackwards := counts[0].period == everything && skip > total/2 && f.Sort != Largest && !isSorted
	switch {
	case f.Sort == Largest:
		sequence = "usd DESC, key DESC"
	case isBackwards:
		sequence, take = "key", min(take, total-skip)
		skip = total - skip - take
	case isSorted:
		sequence = "+key DESC"
	}
	items, err = store.All(ctx, s.db, func(rows *sql.Rows, item *Item) error {
		return rows.Scan(store.HashColumn(&item.ID), &item.IsSwap)
	}, `SELECT id, cell % 8 = 7 FROM listed WHERE key IN (SELECT key FROM listed`+q.where()+` ORDER BY `+sequence+
		` LIMIT `+q.argument(store.Number(take))+` OFFSET `+q.argument(store.Number(skip))+`) ORDER BY `+sequence, q.arguments...)
	if isBackwards {
		slices.Reverse(items)
	}
	return items, err
}
