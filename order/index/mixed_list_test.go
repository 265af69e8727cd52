package index

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/store"
)

// TestMixedListsEqualARecount compares lists by random filters, of orders and of swaps, with what looking at every
// order and every swap gives.
func TestMixedListsEqualARecount(t *testing.T) {
	filters := scale(t, 200)
	for name, db := range map[string]*store.DB{"SQLite": openStore(t), "PostgreSQL": openPostgres(t)} {
		t.Run(name, func(t *testing.T) {
			v, w := newInvented(9), inventedSwaps{rand.New(rand.NewPCG(9, 9))}
			orders, swaps := fillInvented(t, db, v, 3000), w.fill(t, db, 3000)
			both, deep := 0, 0
			for n := range filters {
				f, skip, take := v.filter(orders)
				switch n % 4 {
				case 0:
					f = w.filter()
				case 1, 2:
					f, skip = w.filterOfBoth(), []uint64{0, w.Uint64N(50), w.Uint64N(4000)}[w.IntN(3)]
				}
				got, err := orderStore{DB: db}.listMixed(t.Context(), f, skip, take)
				if err != nil {
					t.Fatal(err)
				}
				want, total := recountBoth(orders, swaps, f, skip, take)
				if got.Total != total || !slices.Equal(idsOfItems(got.Items), want) {
					t.Fatalf("skip %d, take %d of %+v: %d of %d, want %d of %d or others", skip, take, f, len(got.Items), got.Total, len(want), total)
				}
				isSwap := func(e MixedItem) bool { return e.Swap != nil }
				if slices.ContainsFunc(got.Items, isSwap) && slices.ContainsFunc(got.Items, func(e MixedItem) bool { return !isSwap(e) }) {
					both++
				}
				if len(got.Items) > 0 && skip >= skippedOneByOne {
					deep++
				}
			}
			if both < filters/8 || deep < filters/40 {
				t.Errorf("%d of %d lists had orders and swaps, %d were deep: too few to tell anything", both, filters, deep)
			}
		})
	}
}

// filterOfBoth is one that asks for nothing that only orders have, or only swaps.
func (v inventedSwaps) filterOfBoth() (f Filter) {
	if v.IntN(3) == 0 {
		f.Since = v.time()
	}
	if v.IntN(4) > 0 { // most of the orders are newer than the swaps
		f.Until = v.time()
	}
	if v.IntN(3) == 0 {
		f.GiveChains = []chain.ID{1, v.chain(), 56}[:1+v.IntN(3)]
	}
	if v.IntN(4) == 0 {
		f.States = []order.State{order.StateFulfilled, order.StateClaimedUnlock}[:1+v.IntN(2)]
	}
	if v.IntN(4) == 0 {
		f.ReferralCode = new(uint32) // 0, which many have
	}
	return f
}

// recountBoth is what a list must have, by looking at every order and every swap.
func recountBoth(orders []*order.Order, swaps []order.Swap, f Filter, skip, take uint64) (ids []order.ID, total uint64) {
	type line struct {
		at uint64
		id order.ID
	}
	var lines []line
	for _, o := range orders {
		if f.holds(o) {
			lines = append(lines, line{o.Created.At.Time, o.ID})
		}
	}
	for _, s := range swaps {
		if f.mayHoldOfSwaps() && matches(s, f) {
			lines = append(lines, line{s.At.Time, s.ID})
		}
	}
	slices.SortFunc(lines, func(a, b line) int { return cmp.Or(-cmp.Compare(a.at, b.at), bytes.Compare(a.id[:], b.id[:])) })
	total = uint64(len(lines))
	for _, l := range lines[min(skip, total):min(skip+take, total)] {
		ids = append(ids, l.id)
	}
	return ids, total
}

func idsOfItems(items []MixedItem) (ids []order.ID) {
	for _, e := range items {
		if e.Swap != nil {
			ids = append(ids, e.Swap.ID)
		} else {
			ids = append(ids, e.Order.ID)
		}
	}
	return ids
}

func TestMixedListsSayFromWhereTheyAre(t *testing.T) {
	l, d := newLedger(1), newDeal(1, 1, 137)
	x := New(openStore(t), map[chain.ID]order.Source{1: l}, quietly(Options{Chains: evmChains(1, 137)}))
	if _, _, err := x.ListMixed(t.Context(), Filter{}, 0, 10); err == nil {
		t.Error("a list of what was never read")
	}
	l.mineSwaps([]told{d.created()}, []told{swapped(1)})
	followAll(t, x)
	got, basis, err := x.ListMixed(t.Context(), Filter{}, 0, 10)
	if err != nil || got.Total != 2 || len(got.Items) != 2 {
		t.Fatalf("ListMixed = %+v, %v, want an order and a swap", got, err)
	}
	_, ofSwaps, err := x.ListSwaps(t.Context(), Filter{}, 0, 10)
	if err != nil || basis.Chains[0].From != ofSwaps.Chains[0].From {
		t.Errorf("the list begins at %+v, that of swaps at %+v, %v", basis.Chains[0].From, ofSwaps.Chains[0].From, err)
	}
}
