package query

import (
	"cmp"
	"slices"
	"testing"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/ledger"
	"crossgate/order/list"
	"crossgate/store"
)

// TestListsAreFilteredAndSortedAsTheirOrdersAre compares lists by token, amount, value and receiver, in each sequence
// and in parts, with all orders, on both databases.
func TestListsAreFilteredAndSortedAsTheirOrdersAre(t *testing.T) {
	onBoth(t, func(t *testing.T, db *store.DB) {
		v := newInvented(7)
		var events []order.Event
		for range 1200 { // of one token more than are sorted
			events = append(events, v.events()...)
		}
		apply(t, db, events, nil)
		usd := valueThirds(t, db, events)
		all := must.Get(listFrom(t.Context(), ledger.Ledger{DB: db}, list.Orders, list.Filter{}, 0, 2000))(t)
		amount := func(n uint64) *chain.Amount { return new(chain.NewAmount(n)) }
		give, until := v.people[0], uint64(inventedBegin+30*secondsOfDay)
		worth := func(id order.ID) int64 { return *cmp.Or(usd[id], new(int64(-1))) }
		for what, c := range map[string]struct {
			filter list.Filter
			fits   func(*order.Order) bool
		}{
			"all": {list.Filter{}, func(*order.Order) bool { return true }},
			"token": {list.Filter{GiveToken: give, Given: list.Amounts{From: amount(100), To: amount(300)}}, func(o *order.Order) bool {
				return o.GiveFinal.Cmp(chain.NewAmount(100)) >= 0 && o.GiveFinal.Cmp(chain.NewAmount(300)) <= 0
			}},
			"any amount": {list.Filter{GiveToken: give}, func(*order.Order) bool { return true }},
			"token in a state and time": {list.Filter{TakeToken: v.people[1], States: []order.State{order.StateClaimedUnlock}, Since: inventedBegin + secondsOfDay, Until: until}, func(o *order.Order) bool {
				return o.State == order.StateClaimedUnlock && o.Created.At.Time >= inventedBegin+secondsOfDay && o.Created.At.Time <= until
			}},
			"pair": {list.Filter{GiveToken: give, TakeToken: v.people[1]}, func(*order.Order) bool { return true }},
			"pair with amounts": {list.Filter{GiveToken: give, TakeToken: v.people[1], Given: list.Amounts{From: amount(300)}}, func(o *order.Order) bool {
				return o.GiveFinal.Cmp(chain.NewAmount(300)) >= 0
			}},
			"value on a chain": {list.Filter{GiveChains: []chain.ID{1}, USD: list.Amounts{To: amount(99)}}, func(o *order.Order) bool {
				return usd[o.ID] != nil && *usd[o.ID] <= 99 && o.Terms.Give.Chain == 1
			}},
			"taken":    {list.Filter{TakeToken: v.people[1], Taken: list.Amounts{From: amount(256)}}, func(o *order.Order) bool { return o.TakeFinal.Cmp(chain.NewAmount(256)) >= 0 }},
			"other":    {list.Filter{TakeToken: give}, func(*order.Order) bool { return false }},
			"no chain": {list.Filter{GiveChains: []chain.ID{1 + 1<<27}}, func(*order.Order) bool { return false }}, // 1 in 27 bits
			"receiver": {list.Filter{Receiver: v.people[2]}, func(o *order.Order) bool { return o.Terms.Receiver == v.people[2] }},
			"maker of a type": {list.Filter{Maker: v.people[0], TradeType: "Market"}, func(o *order.Order) bool {
				return o.Terms.Maker == v.people[0] && tradeType(o) == "Market"
			}},
			"value": {list.Filter{USD: list.Amounts{From: amount(50), To: amount(200)}}, func(o *order.Order) bool {
				return usd[o.ID] != nil && *usd[o.ID] >= 50 && *usd[o.ID] <= 200
			}},
			"value of a token on a chain": {list.Filter{GiveToken: give, GiveChains: []chain.ID{1}, USD: list.Amounts{From: amount(50)}}, func(o *order.Order) bool {
				return usd[o.ID] != nil && *usd[o.ID] >= 50 && o.Terms.Give.Chain == 1
			}},
		} {
			for _, sort := range []list.Sort{list.Newest, list.Oldest, list.Largest} {
				var want []order.ID
				for _, item := range all.Items { // newest first
					if c.fits(item.Order) {
						want = append(want, item.Order.ID)
					}
				}
				switch sort {
				case list.Oldest:
					slices.Reverse(want)
				case list.Largest:
					slices.SortStableFunc(want, func(a, b order.ID) int { return cmp.Compare(worth(b), worth(a)) })
				}
				c.filter.Sort = sort
				checkParts(t, db, what+" "+string(sort), c.filter, want)
			}
		}
	})
}

const partOfList = 250

// checkParts reads a list in parts and compares it with want.
func checkParts(t *testing.T, db *store.DB, what string, f list.Filter, want []order.ID) {
	t.Helper()
	var got []order.ID
	for {
		part := must.Get(listFrom(t.Context(), ledger.Ledger{DB: db}, list.Orders, f, uint64(len(got)), partOfList))(t)
		if part.Total != uint64(len(want)) {
			t.Errorf("%s: %d in all, want %d", what, part.Total, len(want))
		}
		for _, item := range part.Items {
			got = append(got, item.Order.ID)
		}
		if len(part.Items) < partOfList {
			break
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: %d listed differ from the %d that are wanted", what, len(got), len(want))
	}
}

// valueThirds gives two of three orders a value, some of them equal.
func valueThirds(t *testing.T, db *store.DB, events []order.Event) map[order.ID]*int64 {
	t.Helper()
	usd := map[order.ID]*int64{}
	for _, e := range events {
		if n := int64(e.Order[31]); n%3 > 0 && usd[e.Order] == nil {
			usd[e.Order] = &n
		}
	}
	must.Do(t, db.Update(t.Context(), func(tx *store.Tx) error { return list.Value(t.Context(), tx, usd) }))
	return usd
}
