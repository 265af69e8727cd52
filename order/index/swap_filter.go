package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"crossgate/chain"
	"crossgate/order"
)

// SwapList is a part of the swaps that a filter holds of, newest first: by the time of their block, those of the same
// second by id.
type SwapList struct {
	Swaps []order.Swap
	Total uint64 // of all parts
}

// ErrWithoutSwaps says that swaps within a chain are not indexed here.
var ErrWithoutSwaps = errors.New("swaps within a chain are not indexed")

// ListSwaps returns the swaps within a chain that a filter holds of from the one at skip, counted from 0, at most take.
// Of a filter of orders a swap has this: both chains are its own, it is fulfilled and has no external call; who called
// the router is its maker and creator, its recipient and affiliate are searched for; it has no authorities, taker or
// type of trade. The basis says from where each chain was read for swaps. For errors see List; ErrWithoutSwaps
// instead of ErrUnlisted.
func (x *Index) ListSwaps(ctx context.Context, f Filter, skip, take uint64) (SwapList, Basis, error) {
	basis := x.Basis()
	if x.store.withoutSwaps {
		return SwapList{}, basis, ErrWithoutSwaps
	}
	if err := x.checkReadable(ctx); err != nil {
		return SwapList{}, basis, fmt.Errorf("list swaps: %w", err)
	}
	if err := x.store.limitToSwaps(ctx, &basis); err != nil {
		return SwapList{}, basis, err
	}
	listed, err := x.lists.listSwaps(ctx, f, skip, take)
	return listed, basis, err
}

// limitToSwaps has a basis begin where each chain was read for swaps.
func (s orderStore) limitToSwaps(ctx context.Context, basis *Basis) error {
	from, err := s.swapsFrom(ctx)
	if err != nil {
		return unavailable(ctx, err)
	}
	for i := range basis.Chains {
		c := &basis.Chains[i]
		first, known := from[c.Chain]
		if !known {
			first = BlockTime{c.Indexed + 1, c.IndexedTime}
		}
		if first.Number > c.From.Number {
			c.From = first
		}
	}
	return nil
}

func (s orderStore) listSwaps(ctx context.Context, f Filter, skip, take uint64) (l SwapList, err error) {
	defer func() {
		if err != nil {
			err = unavailable(ctx, fmt.Errorf("list swaps: %w", err))
		}
	}()
	if !f.mayHoldOfSwaps() {
		return SwapList{}, nil
	}
	if l.Total, err = s.countSwaps(ctx, f); err != nil || skip >= l.Total {
		return l, err
	}
	if !f.isKeyed() {
		if skip, err = s.approachSwap(ctx, &f, skip); err != nil {
			return SwapList{}, err
		}
	}
	var q listQuery
	q.swaps(f)
	l.Swaps, err = querySwaps(ctx, s, `SELECT `+swapColumns+` FROM swaps`+q.where()+
		` ORDER BY block_time DESC, id LIMIT `+q.arg(clamped(take))+` OFFSET `+q.arg(clamped(skip)), q.args...)
	return l, err
}

// countSwaps returns how many swaps a filter holds of.
func (s orderStore) countSwaps(ctx context.Context, f Filter) (swaps uint64, err error) {
	if !f.isKeyed() {
		return s.countSwapsBetween(ctx, f)
	}
	var q listQuery
	q.swaps(f)
	_, err = s.QueryRow(ctx, []any{&swaps}, `SELECT COUNT(*) FROM swaps`+q.where(), q.args...)
	return swaps, err
}

// mayHoldOfSwaps reports whether a filter asks for nothing that no swap has.
func (f Filter) mayHoldOfSwaps() bool {
	return (len(f.States) == 0 || slices.Contains(f.States, order.StateFulfilled)) &&
		(len(f.Calls) == 0 || slices.Contains(f.Calls, order.NoExtCall)) &&
		f.TradeType == "" && f.Fulfiller.IsAbsent() && len(f.UnlockAuthorities) == 0 &&
		f.GiveAuthority.IsAbsent() && f.OrderAuthority.IsAbsent()
}

// swaps demands what a filter does of a swap.
func (q *listQuery) swaps(f Filter) {
	q.swapKeys(f)
	plus := "+" // an index by chain has the sequence of a list for one chain only
	if len(f.GiveChains) == 1 && !f.isKeyed() {
		plus = ""
	}
	in(q, plus+"chain", f.GiveChains)
	in(q, "+chain", f.TakeChains)
	q.times(f, "block_time")
}

// swapKeys demands what few swaps have.
func (q *listQuery) swapKeys(f Filter) {
	for _, sender := range []chain.Address{f.Maker, f.Creator} {
		if !sender.IsAbsent() {
			q.add("sender = %s", sender.Bytes())
		}
	}
	q.referral(f)
	if f.Search != nil {
		q.searchSwaps(*f.Search)
	}
}

// searchSwaps demands that a swap has something of what is searched for. Each part is answered by an index of its own.
func (q *listQuery) searchSwaps(s Search) {
	var parts []string
	var values []any
	part := func(value []byte, condition string) {
		parts, values = append(parts, "SELECT id FROM swaps WHERE "+condition), append(values, value)
	}
	if !s.Address.IsAbsent() {
		part(s.Address.Bytes(), "sender = %s")
		part(s.Address.Bytes(), "recipient = %s")
		part(s.Address.Bytes(), "affiliate = %s AND length(affiliate) > 0")
	}
	if !s.Tx.IsAbsent() {
		part(s.Tx.Bytes(), "tx = %s")
	}
	if s.Order != (order.ID{}) {
		part(s.Order[:], "id = %s")
	}
	q.anyOf(parts, values)
}

// countSwapsBetween counts swaps of chains and some time.
func (s orderStore) countSwapsBetween(ctx context.Context, f Filter) (swaps uint64, err error) {
	count := func(days string, of ...any) (swaps uint64, err error) {
		var q listQuery
		q.add(days, of...)
		q.swapChains(f)
		_, err = s.QueryRow(ctx, []any{&swaps}, `SELECT COALESCE(SUM(swaps), 0) FROM swap_counts`+q.where(), q.args...)
		return swaps, err
	}
	if f.Since == 0 && f.Until == 0 {
		return count("day = %s", anyDay)
	}
	return inDays(f.Since, f.Until, func(first, end uint64) (uint64, error) {
		return count("day >= %s AND day < %s", clamped(first), clamped(end))
	}, func(since, until uint64) (swaps uint64, err error) {
		var q listQuery
		f.Since, f.Until = since, until
		q.swaps(f)
		_, err = s.QueryRow(ctx, []any{&swaps}, `SELECT COUNT(*) FROM swaps`+q.where(), q.args...)
		return swaps, err
	})
}

func (q *listQuery) swapChains(f Filter) {
	in(q, "chain", f.GiveChains)
	in(q, "chain", f.TakeChains)
}

// skippedOneByOne is from how many on swaps are skipped by whole days.
const skippedOneByOne = 1000

// approachSwap moves the end of a filter's time back to that of the day of the swap at skip, and returns how many of
// that day's swaps are to be skipped from there.
func (s orderStore) approachSwap(ctx context.Context, f *Filter, skip uint64) (left uint64, err error) {
	if skip < skippedOneByOne {
		return skip, nil
	}
	var q listQuery
	q.add("day >= %s", clamped(day(f.Since)))
	if f.Until > 0 {
		// The last day, of which only a part is asked for.
		last := *f
		last.Since = max(startOf(day(f.Until)), f.Since)
		n, err := s.countSwapsBetween(ctx, last)
		if err != nil || skip < n || day(f.Until) == 0 {
			return skip, err
		}
		skip -= n
		q.add("day < %s", clamped(day(f.Until)))
	}
	q.swapChains(*f)
	left, found := skip, false
	err = s.ForEachRow(ctx, func(rows *sql.Rows) error {
		var on, n uint64
		if err := rows.Scan(&on, &n); err != nil || found {
			return err
		}
		if found = left < n; found {
			f.Until = startOf(on+1) - 1
			return nil
		}
		left -= n
		return nil
	}, `SELECT day, SUM(swaps) FROM swap_counts`+q.where()+` GROUP BY day ORDER BY day DESC`, q.args...)
	return left, err
}
