package query

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/ledger"
	"crossgate/order/list"
	"crossgate/order/onchain"
	"crossgate/store"
)

// entry is an order or a swap that may be in a list.
type entry struct {
	id      order.ID
	at      uint64
	isSwap  bool
	matches func(list.Filter) bool
}

// recountable returns the orders with a known creation, and the swaps.
func recountable(orders []*order.Order, swaps []order.Swap) (all []entry) {
	for _, o := range orders {
		if o.Created != nil {
			all = append(all, entry{o.ID, o.Created.At.Time, false, func(f list.Filter) bool { return matchesOrder(o, f) }})
		}
	}
	for _, s := range swaps {
		all = append(all, entry{s.ID, s.At.Time, true, func(f list.Filter) bool { return matchesSwap(s, f) }})
	}
	return all
}

// recount computes the requested part of a list from all entries.
func recount(all []entry, k list.Kind, f list.Filter, skip, take uint64) (ids []order.ID, total uint64) {
	var matching []entry
	for _, each := range all {
		if (k == list.Both || each.isSwap == (k == list.Swaps)) && each.matches(f) {
			matching = append(matching, each)
		}
	}
	slices.SortFunc(matching, func(a, b entry) int { return cmp.Or(cmp.Compare(b.at, a.at), bytes.Compare(a.id[:], b.id[:])) })
	total = uint64(len(matching))
	for _, each := range matching[min(skip, total):min(skip+take, total)] {
		ids = append(ids, each.id)
	}
	return ids, total
}

// matchesOrder reports whether an order matches a filter.
func matchesOrder(o *order.Order, f list.Filter) bool {
	created := o.Created
	var affiliate, fulfiller, unlockAuthority chain.Address
	var fulfilledIn chain.TxHash
	if created.Fact.Affiliate != nil {
		affiliate = created.Fact.Affiliate.Beneficiary
	}
	if o.Fulfilled != nil {
		fulfiller, unlockAuthority, fulfilledIn = o.Fulfilled.Fact.Taker, o.Fulfilled.Fact.UnlockAuthority, o.Fulfilled.At.Tx
	}
	among := o.Terms.Authorities
	switch {
	case len(f.GiveChains) > 0 && !slices.Contains(f.GiveChains, o.Terms.Give.Chain),
		len(f.TakeChains) > 0 && !slices.Contains(f.TakeChains, o.Terms.Take.Chain),
		len(f.States) > 0 && !slices.Contains(f.States, o.State),
		len(f.Calls) > 0 && !slices.Contains(f.Calls, o.Call),
		f.TradeType != "" && f.TradeType != tradeType(o),
		created.At.Time < f.Since, f.Until > 0 && created.At.Time > f.Until,
		!f.Maker.IsAbsent() && f.Maker != o.Terms.Maker,
		!f.Creator.IsAbsent() && f.Creator != created.At.Initiator,
		!f.Fulfiller.IsAbsent() && f.Fulfiller != fulfiller,
		len(f.UnlockAuthorities) > 0 && !slices.Contains(f.UnlockAuthorities, unlockAuthority),
		!f.GiveAuthority.IsAbsent() && f.GiveAuthority != among.GivePatch,
		!f.OrderAuthority.IsAbsent() && f.OrderAuthority != among.Order,
		f.ReferralCode != nil && *f.ReferralCode != created.Fact.ReferralCode:
		return false
	}
	if s := f.Search; s != nil {
		byAddress := !s.Address.IsAbsent() && slices.Contains(
			[]chain.Address{o.Terms.Maker, o.Terms.Receiver, among.GivePatch, among.Order, affiliate}, s.Address)
		byTx := !s.Tx.IsAbsent() && (s.Tx == created.At.Tx || s.Tx == fulfilledIn)
		return byAddress || byTx || s.Order == o.ID
	}
	return true
}

// matchesSwap reports whether a swap matches a filter.
func matchesSwap(s order.Swap, f list.Filter) bool {
	among := func(chains []chain.ID) bool { return len(chains) == 0 || slices.Contains(chains, s.At.Chain) }
	is := func(wanted, got chain.Address) bool { return wanted.IsAbsent() || wanted == got }
	found := f.Search == nil
	if !found {
		a, affiliate := f.Search.Address, chain.Address{}
		if s.Fact.Affiliate != nil {
			affiliate = s.Fact.Affiliate.Beneficiary
		}
		found = !a.IsAbsent() && (a == s.Fact.Sender || a == s.Fact.Recipient || a == affiliate) ||
			!f.Search.Tx.IsAbsent() && f.Search.Tx == s.At.Tx || f.Search.Order == s.ID
	}
	return found && among(f.GiveChains) && among(f.TakeChains) &&
		f.TradeType == "" && f.GiveAuthority.IsAbsent() && f.OrderAuthority.IsAbsent() &&
		(len(f.States) == 0 || slices.Contains(f.States, order.StateFulfilled)) &&
		(len(f.Calls) == 0 || slices.Contains(f.Calls, order.NoExtCall)) &&
		s.At.Time >= f.Since && (f.Until == 0 || s.At.Time <= f.Until) &&
		is(f.Maker, s.Fact.Sender) && is(f.Creator, s.Fact.Sender) && f.Fulfiller.IsAbsent() && len(f.UnlockAuthorities) == 0 &&
		(f.ReferralCode == nil || *f.ReferralCode == s.Fact.ReferralCode)
}

func tradeType(o *order.Order) string {
	m, _ := onchain.ParseMetadata(o.Created.Fact.Metadata)
	return m.OrderTradeType
}

// TestListsEqualARecount reads lists from both databases by random filters: of orders, of swaps, and of both.
func TestListsEqualARecount(t *testing.T) {
	const mostInvented, mostSwaps = 10_000, 4000
	filters := scale(t, 40)
	swapped := min(40*filters, mostSwaps)
	onBoth(t, func(t *testing.T, db *store.DB) {
		t.Parallel()
		v, w := newInvented(7), inventedSwaps{rand.New(rand.NewPCG(7, 7))}
		orders := fillInvented(t, db, v, min(5*filters, mostInvented))
		swaps := w.fill(t, db, swapped)
		all := recountable(orders, swaps)
		var full, deep, both int
		for n := range filters {
			f, skip, take := v.filter(orders)
			kind := list.Kind(n % 3)
			switch v.IntN(5) {
			case 0, 1:
				f, skip = w.filter(swaps), []uint64{0, w.Uint64N(50), w.Uint64N(uint64(swapped) + 200)}[w.IntN(3)]
			case 2:
				f, skip = w.filterOfBoth(), []uint64{0, w.Uint64N(50), w.Uint64N(uint64(swapped))}[w.IntN(3)]
			}
			got, err := listFrom(t.Context(), ledger.Ledger{DB: db}, kind, f, skip, take)
			if err != nil {
				t.Fatalf("list(%d, %+v): %v", kind, f, err)
			}
			want, total := recount(all, kind, f, skip, take)
			var ids []order.ID
			exchanged := 0
			for _, each := range got.Items {
				if each.Swap != nil {
					ids, exchanged = append(ids, each.Swap.ID), exchanged+1
				} else {
					ids = append(ids, each.Order.ID)
				}
			}
			if got.Total != total || !slices.Equal(ids, want) {
				t.Fatalf("list(%d, %+v, %d, %d) = %d of %d, want %d of %d or others", kind, f, skip, take, len(ids), got.Total, len(want), total)
			}
			full += min(len(ids), 1)
			if len(ids) > 0 && skip > uint64(swapped/4) {
				deep++
			}
			if exchanged > 0 && exchanged < len(ids) {
				both++
			}
		}
		if full < filters/4 || deep <= filters/100 || both <= filters/100 {
			t.Errorf("of %d lists %d hold something, %d of them are deep and %d hold orders and swaps: the filters ask for too much", filters, full, deep, both)
		}
		t.Logf("%d orders and swaps, %d filters, %d lists that hold something, %d of them deep and %d of both, none different", len(all), filters, full, deep, both)
	})
}
