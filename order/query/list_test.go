package query

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/follow"
	"crossgate/order/ledger"
	"crossgate/order/list"
	"crossgate/store"
)

// checkListed checks that the lists' rows and counts are as the stored events imply.
func checkListed(t *testing.T, db *store.DB) {
	t.Helper()
	ctx := t.Context()
	stored := ledger.Ledger{DB: db}
	rowsOf := func(query string) (rows []string) {
		must.Do(t, db.ForEachRow(ctx, func(r *sql.Rows) error {
			var key, n string
			err := r.Scan(&key, &n)
			rows = append(rows, key+" "+n)
			return err
		}, query))
		slices.Sort(rows)
		return rows
	}
	counts := rowsOf(`SELECT (CASE WHEN subject >= 4611686018427387904 THEN 4611686018427387904 ELSE subject / 8589934592 * 8589934592 END / 8589934592) || ' ' ||
		(CASE WHEN subject >= 4611686018427387904 THEN subject - 4611686018427387904 ELSE subject % 8589934592 END) || ' ' || period || ' ' || cell, listed
		FROM listed_counts WHERE listed <> 0 AND period >= 0`)
	var want []string
	for subject, column := range []string{"0", "referral_code", "give_token", "take_token"} {
		want = append(want, rowsOf(fmt.Sprintf(`SELECT '%d ' || %s || ' ' || (key / 4503599627370496) || ' ' || cell, COUNT(*) FROM listed
			WHERE %[1]d < 2 OR %[2]s > 0 GROUP BY 1`, subject, column))...)
	}
	want = append(want, rowsOf(`SELECT '536870912 ' || (give_token * 2147483648 + take_token) || ' ' || (key / 4503599627370496) || ' ' || cell, COUNT(*)
		FROM listed WHERE give_token > 0 AND take_token > 0 GROUP BY 1`)...)
	slices.Sort(want)
	if diff := cmp.Diff(want, counts); diff != "" {
		t.Fatalf("counts (-recounted +counted):\n%s", diff)
	}
	var ids []order.ID
	must.Do(t, db.ForEachRow(ctx, func(rows *sql.Rows) error {
		var id order.ID
		err := rows.Scan(store.HashColumn(&id))
		ids = append(ids, id)
		return err
	}, `SELECT id FROM orders UNION SELECT id FROM listed WHERE cell % 8 <> 7`))
	for _, id := range ids {
		o := must.Get(orderOf(ctx, db, id))(t)
		found := must.Get(listFrom(ctx, stored, list.Orders, list.Filter{Search: &list.Search{Order: id}}, 0, 2))(t)
		if isListed := o != nil && o.Created != nil; (found.Total == 1) != isListed {
			t.Fatalf("order %s is in %d lists, its creation is known: %t", id, found.Total, isListed)
		}
		if found.Total == 0 {
			continue
		}
		all := filterOf(o)
		if found, err := listFrom(ctx, stored, list.Orders, all, 0, 2); err != nil || found.Total != 1 {
			t.Fatalf("order %s is not listed as it is: list(%+v) = %d, %v", id, all, found.Total, err)
		}
	}
}

// orderOf returns a stored order, nil without terms.
func orderOf(ctx context.Context, db *store.DB, id order.ID) (*order.Order, error) {
	events, err := ledger.Ledger{DB: db}.OfOrder(ctx, id)
	o, _ := order.Fold(events)
	return o, err
}

// filterOf returns a filter with every property of an order.
func filterOf(o *order.Order) list.Filter {
	f := list.Filter{
		GiveChains: []chain.ID{o.Terms.Give.Chain}, TakeChains: []chain.ID{o.Terms.Take.Chain}, States: []order.State{o.State},
		Calls: []order.ExternalCallState{o.Call}, TradeType: tradeType(o), Since: o.Created.At.Time, Until: o.Created.At.Time,
		Maker: o.Terms.Maker, Creator: o.Created.At.Initiator, ReferralCode: &o.Created.Fact.ReferralCode,
		GiveAuthority: o.Terms.Authorities.GivePatch, OrderAuthority: o.Terms.Authorities.Order, Search: &list.Search{Order: o.ID},
	}
	if o.Fulfilled != nil {
		f.Fulfiller, f.UnlockAuthorities = o.Fulfilled.Fact.Taker, []chain.Address{o.Fulfilled.Fact.UnlockAuthority}
	}
	return f
}

// apply adds and removes events.
func apply(t testing.TB, db *store.DB, added, taken []order.Event) {
	t.Helper()
	must.Get(ledger.Ledger{DB: db}.Write(t.Context(), store.Lease{}, func(tx *ledger.Tx) error {
		tx.Add(added...)
		return tx.Correct(t.Context(), ledger.Correction{Wrong: taken})
	}))(t)
}

func TestMixedListsSayFromWhereTheyAre(t *testing.T) {
	l, d := newTestChain(1), newDeal(1, 1, 137)
	x := newIndex(openStore(t), map[chain.ID]order.Source{1: l}, quietly(follow.Options{Chains: evmChains(1, 137)}))
	if _, _, err := x.List(t.Context(), list.Both, list.Filter{}, 0, 10); err == nil {
		t.Error("a list of what was never read")
	}
	l.mineSwaps([]told{d.created()}, []told{swapped(1)})
	followAll(t, x)
	got, basis, err := x.List(t.Context(), list.Both, list.Filter{}, 0, 10)
	if err != nil || got.Total != 2 || len(got.Items) != 2 {
		t.Fatalf("List = %+v, %v, want an order and a swap", got, err)
	}
	_, ofSwaps, err := x.List(t.Context(), list.Swaps, list.Filter{}, 0, 10)
	if err != nil || basis.Chains[0].From != ofSwaps.Chains[0].From {
		t.Errorf("the list begins at %+v, that of swaps at %+v, %v", basis.Chains[0].From, ofSwaps.Chains[0].From, err)
	}
}

// TestOrdersWithIDsThatBeginAlikeAreListed adds orders within one second whose places in lists would be equal, in two
// transactions, and withdraws one; another one has a time in milliseconds until it is corrected.
func TestOrdersWithIDsThatBeginAlikeAreListed(t *testing.T) {
	onBoth(t, func(t *testing.T, db *store.DB) {
		v := newInvented(3)
		create := func(n byte) []order.Event {
			events := v.events()
			for !ledger.IsCreation(events[0]) {
				events = v.events()
			}
			for i := range events {
				events[i].Order, events[i].At.Time = order.ID{1, 2, 3, 4, 5, 6, 7, 31: n}, inventedBegin
			}
			return events
		}
		first := create(1)
		apply(t, db, slices.Concat(first, create(2)), nil)
		apply(t, db, slices.Concat(create(3), create(4)), nil)
		checkListed(t, db)
		apply(t, db, nil, first)
		checkListed(t, db)
		later := create(5)
		for i := range later {
			later[i].At.Time *= 1000
		}
		apply(t, db, later, nil)
		apply(t, db, nil, later)
		checkListed(t, db)
		found, err := listFrom(t.Context(), ledger.Ledger{DB: db}, list.Orders, list.Filter{}, 0, 10)
		if err != nil || found.Total != 3 || len(found.Items) != 3 {
			t.Errorf("%d of %d orders, %v, want 3", len(found.Items), found.Total, err)
		}
	})
}
