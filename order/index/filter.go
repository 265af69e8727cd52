package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/onchain"
	"crossgate/store"
)

// Filter says which orders a list holds: those that all of its members hold of. Absent and empty members hold of every
// order.
type Filter struct {
	GiveChains, TakeChains []chain.ID
	States                 []order.State
	Calls                  []order.ExternalCallState
	TradeType              string // of the order's metadata, one of TradeTypes
	Since, Until           uint64 // UNIX seconds, both included: when it was created

	Maker, Creator                chain.Address // Creator signed the creation
	Fulfiller                     chain.Address
	UnlockAuthorities             []chain.Address // any of them
	GiveAuthority, OrderAuthority chain.Address
	ReferralCode                  *uint32
	Search                        *Search
}

// TradeTypes are the types of trades that orders are known by.
func TradeTypes() []string { return onchain.OrderTradeTypes() }

// Search is a text that names an order by something of it. What the text cannot be is absent; a search for nothing
// finds nothing.
type Search struct {
	Address chain.Address // maker, receiver, either authority, or beneficiary of the affiliate fee
	Order   order.ID
	Tx      chain.TxHash // creation or fulfilment
}

// List is a part of the orders that a filter holds of, newest first: by the time of their creation, those of the same
// second by id.
type List struct {
	Orders []*order.Order
	Total  uint64 // of all parts
}

// ErrUnlisted says that orders are being listed that were indexed before there were lists.
var ErrUnlisted = errors.New("orders that were indexed earlier are not listed yet")

// List returns the orders that a filter holds of from the one at skip, counted from 0, at most take. Orders whose
// creation is not known are in no list. *UnreachableError when a reorg dropped blocks that could not be withdrawn yet;
// ErrUnavailable while the store cannot be read, ErrUnlisted while not all orders in it are listed; ErrEmpty when
// nothing was ever read of any chain.
func (x *Index) List(ctx context.Context, f Filter, skip, take uint64) (List, Basis, error) {
	basis := x.Basis()
	if err := x.checkReadable(ctx); err != nil {
		return List{}, basis, fmt.Errorf("list orders: %w", err)
	}
	listed, err := x.lists.list(ctx, f, skip, take)
	return listed, basis, err
}

func (s orderStore) list(ctx context.Context, f Filter, skip, take uint64) (l List, err error) {
	defer func() {
		if err != nil && !errors.Is(err, ErrUnlisted) {
			err = unavailable(ctx, fmt.Errorf("list orders: %w", err))
		}
	}()
	behind, err := s.unlisted(ctx)
	if err != nil || behind {
		return List{}, errors.Join(err, ErrUnlisted)
	}
	var ids []order.ID
	if f.isKeyed() {
		ids, l.Total, err = s.listKeyed(ctx, f, skip, take)
	} else {
		ids, l.Total, err = s.listCells(ctx, f, skip, take)
	}
	if err != nil {
		return List{}, err
	}
	events, err := eventsOfAll(ctx, s, ids)
	if err != nil {
		return List{}, err
	}
	for _, id := range ids {
		// One that a reorg has taken away meanwhile is left out.
		if o, _ := order.Fold(events[id]); o != nil && o.Created != nil {
			l.Orders = append(l.Orders, o)
		}
	}
	return l, nil
}

// isKeyed reports whether the filter names something that few orders have, for which there is an index of its own.
// Otherwise all that it asks for is what orders are counted by.
func (f Filter) isKeyed() bool { return f.isPersonal() || f.ReferralCode != nil }

func (f Filter) isPersonal() bool {
	return f.Search != nil || len(f.UnlockAuthorities) > 0 || !f.Maker.IsAbsent() || !f.Creator.IsAbsent() ||
		!f.Fulfiller.IsAbsent() || !f.GiveAuthority.IsAbsent() || !f.OrderAuthority.IsAbsent()
}

// listQuery collects the conditions of a statement about order_list or order_counts, and its arguments.
type listQuery struct {
	selectionQuery
	conditions []string
}

func (q *listQuery) where() string {
	if len(q.conditions) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(q.conditions, " AND ")
}

func (q *listQuery) add(condition string, values ...any) {
	marks := make([]any, len(values))
	for i, value := range values {
		marks[i] = q.arg(value)
	}
	q.conditions = append(q.conditions, fmt.Sprintf(condition, marks...))
}

// in demands that a column holds one of some numbers; of none, anything.
func in[N ~uint64 | ~uint8](q *listQuery, column string, numbers []N) {
	if len(numbers) == 0 {
		return
	}
	list := make([]int64, len(numbers))
	for i, n := range numbers {
		list[i] = int64(n)
	}
	if len(list) == 1 { // rows of one value are in the sequence of the rest of an index
		q.add(column+" = %s", list[0])
		return
	}
	q.add(column+" = ANY(%s)", list)
}

// cells demands what orders are counted by. A plus before the columns keeps databases from searching by them.
func (q *listQuery) cells(f Filter, plus string) {
	in(q, plus+"give_chain", f.GiveChains)
	in(q, plus+"take_chain", f.TakeChains)
	in(q, plus+"state", f.States)
	in(q, plus+"call", f.Calls)
	if f.TradeType != "" {
		q.add("trade_type = %s", f.TradeType)
	}
}

// times demands when what is listed came to be, by a column.
func (q *listQuery) times(f Filter, column string) {
	if f.Since > 0 {
		q.add(column+" >= %s", clamped(f.Since))
	}
	if f.Until > 0 {
		q.add(column+" <= %s", clamped(f.Until))
	}
}

// referral demands the referral code. Many may share it, so that who is named is searched by first.
func (q *listQuery) referral(f Filter) {
	if f.ReferralCode == nil {
		return
	}
	plus := ""
	if f.isPersonal() {
		plus = "+"
	}
	q.add(plus+"referral_code = %s", int64(*f.ReferralCode))
}

// keys demands what few orders have.
func (q *listQuery) keys(f Filter) {
	if !f.Maker.IsAbsent() {
		q.add("maker = %s", f.Maker.Bytes())
	}
	q.person(f.Creator, whoIsMaker("creator"), whoIsOther("creator", "maker"))
	q.person(f.GiveAuthority, whoIsMaker("give_authority"), whoIsOther("give_authority", "maker"))
	q.person(f.OrderAuthority, "maker = %s AND receiver = maker AND order_authority = receiver",
		whoIsOther("receiver", "maker")+" AND order_authority = receiver", whoIsOther("order_authority", "receiver"))
	if !f.Fulfiller.IsAbsent() {
		q.add("fulfiller = %s AND length(fulfiller) > 0", f.Fulfiller.Bytes())
	}
	if len(f.UnlockAuthorities) > 0 {
		authorities := make([][]byte, len(f.UnlockAuthorities))
		for i, a := range f.UnlockAuthorities {
			authorities[i] = a.Bytes()
		}
		q.add("unlock_authority = ANY(%s) AND length(unlock_authority) > 0", authorities)
	}
	q.referral(f)
	if f.Search != nil {
		q.search(*f.Search)
	}
}

// Who has part in an order is found by the index of what he is first: of makers, or of those who are somebody else.
func whoIsMaker(column string) string { return "maker = %s AND " + column + " = maker" }

func whoIsOther(column, than string) string { return column + " = %s AND " + column + " <> " + than }

// person demands that somebody has a part in an order, which is one of some conditions.
func (q *listQuery) person(a chain.Address, conditions ...string) {
	if a.IsAbsent() {
		return
	}
	values := make([]any, len(conditions))
	for i := range conditions {
		conditions[i] = "SELECT id FROM order_list WHERE " + conditions[i]
		values[i] = a.Bytes()
	}
	q.add("id IN ("+strings.Join(conditions, " UNION ALL ")+")", values...)
}

// search demands that an order has something of what is searched for. Each part is answered by an index of its own.
func (q *listQuery) search(s Search) {
	var parts []string
	var values []any
	part := func(value []byte, statement string) {
		parts, values = append(parts, statement), append(values, value)
	}
	if !s.Address.IsAbsent() {
		for _, condition := range []string{
			"maker = %s", whoIsOther("receiver", "maker"), whoIsOther("give_authority", "maker"), whoIsOther("order_authority", "receiver"),
		} {
			part(s.Address.Bytes(), "SELECT id FROM order_list WHERE "+condition)
		}
		part(s.Address.Bytes(), "SELECT id FROM order_list WHERE affiliate = %s AND length(affiliate) > 0")
	}
	if !s.Tx.IsAbsent() {
		part(s.Tx.Bytes(), "SELECT order_id FROM events WHERE tx = %s AND kind = 'created'")
		part(s.Tx.Bytes(), "SELECT id FROM order_list WHERE fulfilled_in = %s AND length(fulfilled_in) > 0")
	}
	if s.Order != (order.ID{}) {
		part(s.Order[:], "SELECT id FROM order_list WHERE id = %s")
	}
	q.anyOf(parts, values)
}

// anyOf demands that one of some statements finds the row's id.
func (q *listQuery) anyOf(parts []string, values []any) {
	if len(parts) == 0 {
		q.add("1 = 0")
		return
	}
	q.add("id IN ("+strings.Join(parts, " UNION ")+")", values...)
}

// listKeyed returns a part of the orders that a filter with a key holds of, and how many these are. Databases search by
// the key and look at the rest.
func (s orderStore) listKeyed(ctx context.Context, f Filter, skip, take uint64) (ids []order.ID, total uint64, err error) {
	var q listQuery
	q.keys(f)
	q.cells(f, "+")
	q.times(f, "created")
	if f.isPersonal() { // all that match are read in any case: they are counted on the way
		if ids, total, err = s.countedPage(ctx, q, skip, take); err != nil || len(ids) > 0 {
			return ids, total, err
		}
	}
	if total, err = s.countKeyed(ctx, f, q); err != nil || skip >= total {
		return nil, total, err
	}
	ids, err = s.page(ctx, q, newestFirst, skip, take)
	return ids, total, err
}

// countKeyed returns how many orders a filter with a key holds of, which a query demands.
func (s orderStore) countKeyed(ctx context.Context, f Filter, q listQuery) (total uint64, err error) {
	if f.isPersonal() || f.asksForCells() || f.Since > 0 || f.Until > 0 {
		_, err = s.QueryRow(ctx, []any{&total}, `SELECT COUNT(*) FROM order_list`+q.where(), q.args...)
		return total, err
	}
	_, err = s.QueryRow(ctx, []any{&total}, `SELECT orders FROM referral_counts WHERE referral_code = $1`, int64(*f.ReferralCode))
	return total, err
}

// countedPage is page with the count of all rows that match; both are nothing beyond the last.
func (s orderStore) countedPage(ctx context.Context, q listQuery, skip, take uint64) (ids []order.ID, total uint64, err error) {
	err = s.ForEachRow(ctx, func(rows *sql.Rows) error {
		var id order.ID
		err := rows.Scan(store.HashColumn(&id), &total)
		ids = append(ids, id)
		return err
	}, `SELECT id, COUNT(*) OVER () FROM order_list`+q.where()+` ORDER BY `+newestFirst+
		` LIMIT `+q.arg(clamped(take))+` OFFSET `+q.arg(clamped(skip)), q.args...)
	return ids, total, err
}

// The sequence of a list, and the same for rows that are to be sorted and not looked for by time.
const (
	newestFirst       = "created DESC, id"
	sortedNewestFirst = "+created DESC, id"
)

func (s orderStore) page(ctx context.Context, q listQuery, sequence string, skip, take uint64) ([]order.ID, error) {
	return queryIDs(ctx, s, `SELECT id FROM order_list`+q.where()+` ORDER BY `+sequence+
		` LIMIT `+q.arg(clamped(take))+` OFFSET `+q.arg(clamped(skip)), q.args...)
}

// clamped is a number as databases have them.
func clamped(n uint64) int64 { return int64(min(n, 1<<62)) }
