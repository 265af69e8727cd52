package index

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/store"
)

// TestListsOfSwapsEqualARecount compares lists by random filters with what looking at every swap gives.
func TestListsOfSwapsEqualARecount(t *testing.T) {
	const filters = 300
	for name, db := range map[string]*store.DB{"SQLite": openStore(t), "PostgreSQL": openPostgres(t)} {
		t.Run(name, func(t *testing.T) {
			v := inventedSwaps{rand.New(rand.NewPCG(7, 7))}
			all := v.fill(t, db, 4000)
			full, deep := 0, 0
			for range filters {
				f, take := v.filter(), 1+v.Uint64N(100)
				skip := []uint64{0, v.Uint64N(50), v.Uint64N(4200)}[v.IntN(3)]
				got, err := orderStore{DB: db}.listSwaps(t.Context(), f, skip, take)
				if err != nil {
					t.Fatal(err)
				}
				want := swapsListed(all, f, skip, take)
				if got.Total != want.Total || !slices.EqualFunc(got.Swaps, want.Swaps, func(a, b order.Swap) bool { return a.ID == b.ID }) {
					t.Fatalf("skip %d, take %d of %+v: %d of %d swaps, want %d of %d", skip, take, f, len(got.Swaps), got.Total, len(want.Swaps), want.Total)
				}
				if len(got.Swaps) > 0 {
					full++
				}
				if len(got.Swaps) > 0 && skip > 1000 {
					deep++
				}
			}
			if full < filters/3 || deep < 10 {
				t.Errorf("%d lists had swaps, %d of them deep ones: too few to tell anything", full, deep)
			}
		})
	}
}

// swapsListed is a part of a list by looking at every swap.
func swapsListed(all []order.Swap, f Filter, skip, take uint64) (l SwapList) {
	matching := slices.DeleteFunc(slices.Clone(all), func(s order.Swap) bool { return !matches(s, f) })
	slices.SortFunc(matching, func(a, b order.Swap) int {
		return cmp.Or(-cmp.Compare(a.At.Time, b.At.Time), bytes.Compare(a.ID[:], b.ID[:]))
	})
	l.Total = uint64(len(matching))
	from := min(skip, l.Total)
	l.Swaps = matching[from:min(from+take, l.Total)]
	return l
}

func matches(s order.Swap, f Filter) bool {
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
		(len(f.States) == 0 || slices.Contains(f.States, order.StateFulfilled)) &&
		(len(f.Calls) == 0 || slices.Contains(f.Calls, order.NoExtCall)) &&
		s.At.Time >= f.Since && (f.Until == 0 || s.At.Time <= f.Until) &&
		is(f.Maker, s.Fact.Sender) && is(f.Creator, s.Fact.Sender) && f.Fulfiller.IsAbsent() && len(f.UnlockAuthorities) == 0 &&
		(f.ReferralCode == nil || *f.ReferralCode == s.Fact.ReferralCode)
}

// inventedSwaps are swaps of few people on few chains in two weeks.
type inventedSwaps struct{ *rand.Rand }

const firstOfSwaps = 1_700_000_000

func (v inventedSwaps) someone() chain.Address {
	return chain.NewAddress([]byte(fmt.Sprintf("someone of twenty %02d", v.IntN(30))))
}

func (v inventedSwaps) chain() chain.ID { return chain.ID(1 + v.IntN(4)) }

func (v inventedSwaps) time() uint64 { return firstOfSwaps + v.Uint64N(14*secondsOfDay) }

func (v inventedSwaps) id() (id order.ID) {
	id[0], id[1] = byte(v.IntN(256)), byte(v.IntN(256))
	return id
}

func (v inventedSwaps) fill(t *testing.T, db *store.DB, count int) (swaps []order.Swap) {
	t.Helper()
	var events []order.Event
	for i := range count {
		id := v.id()
		id[31], id[30] = byte(i), byte(i>>8)
		s := order.Swap{ID: id, At: order.At{
			Chain: v.chain(), Block: uint64(i), Time: v.time(), Tx: chain.NewTxHash(id[:]), LogIndex: 1,
		}, Fact: order.Swapped{Sender: v.someone(), Recipient: v.someone(), ReferralCode: uint32(v.IntN(5))}}
		if v.IntN(3) == 0 {
			s.Fact.Affiliate = &order.Affiliate{Beneficiary: v.someone(), Amount: chain.NewAmount(1)}
		}
		if i > 0 && v.IntN(10) == 0 { // several of the same second
			s.At.Time = swaps[i-1].At.Time
		}
		swaps, events = append(swaps, s), append(events, s.Event())
	}
	apply(t, db, events, nil)
	return swaps
}

// filter is one that asks for few things at a time.
func (v inventedSwaps) filter() (f Filter) {
	for range v.IntN(4) {
		switch v.IntN(12) {
		case 0, 1:
			f.GiveChains = []chain.ID{v.chain(), v.chain()}[:1+v.IntN(2)]
		case 2:
			f.TakeChains = []chain.ID{v.chain(), v.chain()}[:1+v.IntN(2)]
		case 3, 4:
			f.Since = v.time()
		case 5, 6:
			f.Until = v.time()
		case 7:
			f.Maker = v.someone()
		case 8:
			f.Creator = v.someone()
		case 9:
			f.ReferralCode = new(uint32)
			*f.ReferralCode = uint32(v.IntN(6))
		case 10:
			f.Search = &Search{Address: v.someone()}
		case 11:
			f.States = []order.State{order.StateCreated, order.StateFulfilled}[:1+v.IntN(2)]
		}
	}
	if v.IntN(20) == 0 {
		f.Calls = []order.ExternalCallState{order.NoExtCall}
	}
	if v.IntN(40) == 0 {
		f.Fulfiller = v.someone()
	}
	return f
}

func TestSwapsAreFoundByWhatNamesThem(t *testing.T) {
	db := openStore(t)
	v := inventedSwaps{rand.New(rand.NewPCG(8, 8))}
	all := v.fill(t, db, 50)
	s := orderStore{DB: db}
	for name, search := range map[string]Search{
		"id": {Order: all[7].ID}, "transaction": {Tx: all[7].At.Tx}, "either": {Order: order.ID(all[7].At.Tx.Bytes()), Tx: all[7].At.Tx},
	} {
		got, err := s.listSwaps(t.Context(), Filter{Search: &search}, 0, 10)
		if err != nil || got.Total != 1 || len(got.Swaps) != 1 || got.Swaps[0].ID != all[7].ID {
			t.Errorf("by %s: %+v, %v, want swap %s", name, got, err, all[7].ID)
		}
	}
	if got, err := s.listSwaps(t.Context(), Filter{Search: &Search{}}, 0, 10); err != nil || got.Total != 0 {
		t.Errorf("search for nothing: %+v, %v", got, err)
	}
}
