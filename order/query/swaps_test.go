package query

import (
	"errors"
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

// mustFindSwap finds the only swap of a transaction, by the transaction and, if isIndexed, also by its ID.
func mustFindSwap(t *testing.T, x *Index, id chain.ID, tx chain.TxHash, isIndexed bool) FoundSwap {
	t.Helper()
	found, _, err := x.FindSwaps(t.Context(), id, tx)
	if err != nil || len(found) != 1 || found[0].At.Tx != tx {
		t.Fatalf("FindSwaps = %+v, %v, want one swap in %s", found, err, tx)
	}
	byID, err := x.SwapByID(t.Context(), found[0].ID)
	switch {
	case isIndexed && (err != nil || byID.At != found[0].At):
		t.Errorf("SwapByID = %+v, %v, want %+v", byID, err, found[0])
	case !isIndexed && !errors.Is(err, order.ErrNotFound):
		t.Errorf("SwapByID = %+v, %v, want ErrNotFound", byID, err)
	}
	return found[0]
}

func TestSwapsAreFoundBeforeAndAfterTheyAreIndexed(t *testing.T) {
	l := newTestChain(1)
	x := newIndex(openStore(t), map[chain.ID]order.Source{1: l}, quietly(follow.Options{Chains: evmChains(1)}))
	followAll(t, x)
	tx := l.mineSwaps([]told{swapped(1)})[0]
	if fresh := mustFindSwap(t, x, 1, tx, false); !fresh.Basis.Chains[0].Unread || fresh.Basis.IsFinal() {
		t.Errorf("basis of a swap that only the chain tells: %+v, want unread", fresh.Basis)
	}
	followAll(t, x)
	before := l.times("EventsIn")
	if indexed := mustFindSwap(t, x, 1, tx, true); indexed.Basis.Chains[0].Unread || indexed.Basis.IsFinal() {
		t.Errorf("basis of an indexed swap: %+v, want read and not final", indexed.Basis)
	}
	if after := l.times("EventsIn"); after != before {
		t.Errorf("the chain was asked %d times for an indexed swap", after-before)
	}
	l.mineEmpty(int(l.finality))
	followAll(t, x)
	if final := mustFindSwap(t, x, 1, tx, true); !final.Basis.IsFinal() {
		t.Errorf("basis of a final swap: %+v", final.Basis)
	}
}

func TestFindSwapsSaysWhatIsCertainOnly(t *testing.T) {
	l, d := newTestChain(1), newDeal(1, 1, 137)
	txs := l.mineSwaps([]told{d.created()}, []told{swapped(1), swapped(2)})
	x := newIndex(openStore(t), map[chain.ID]order.Source{1: l}, quietly(follow.Options{Chains: evmChains(1, 137)}))
	down := errors.New("no route to host")
	for name, test := range map[string]struct {
		id   chain.ID
		tx   chain.TxHash
		down error
		want error
	}{
		"two swaps":              {1, txs[1], nil, nil},
		"an order's transaction": {1, txs[0], nil, order.ErrNoSwap},
		"an unknown transaction": {1, chain.NewTxHash(make([]byte, 32)), nil, order.ErrNotFound},
		"a chain not followed":   {137, txs[1], nil, order.ErrNotFound},
		"of another family":      {1, chain.NewTxHash(make([]byte, 64)), nil, order.ErrNotFound},
		"a chain that is down":   {1, txs[1], down, down},
	} {
		t.Run(name, func(t *testing.T) {
			l.fail(test.down)
			found, searched, err := x.FindSwaps(t.Context(), test.id, test.tx)
			if !errors.Is(err, test.want) || (err == nil) != (len(found) == 2) {
				t.Errorf("FindSwaps = %+v, %v, want error %v", found, err, test.want)
			}
			if unreachable := (*UnreachableError)(nil); errors.As(err, &unreachable) != (test.want == down) {
				t.Errorf("FindSwaps: %v", err)
			}
			if searched.All || len(searched.Chains) != 1 || searched.Chains[0].Chain != test.id || searched.Chains[0].Followed != (test.id == 1) {
				t.Errorf("searched %+v, want chain %d", searched.Chains, test.id)
			}
		})
	}
}

// TestASwapInDoubtIsAskedFor has a reorg that was noticed, but whose blocks are not withdrawn yet.
func TestASwapInDoubtIsAskedFor(t *testing.T) {
	onBoth(t, func(t *testing.T, db *store.DB) {
		l := newTestChain(1)
		x := newIndex(db, map[chain.ID]order.Source{1: l}, quietly(follow.Options{Chains: evmChains(1)}))
		gone := l.mineSwaps([]told{swapped(1)})[0]
		followAll(t, x)
		l.drop(1)
		moved := l.mineSwaps([]told{swapped(2)})[0]
		x.Followers[0].Watch(t.Context())
		if found, _, err := x.FindSwaps(t.Context(), 1, gone); !errors.Is(err, order.ErrNotFound) {
			t.Errorf("a dropped swap in doubt: %+v, %v, want ErrNotFound", found, err)
		}
		if found, err := x.SwapByID(t.Context(), swapped(1).id); !errors.Is(err, order.ErrNotFound) {
			t.Errorf("a dropped swap in doubt, by its id: %+v, %v, want ErrNotFound", found, err)
		}
		l.fail(errors.New("no route to host"))
		if _, _, err := x.FindSwaps(t.Context(), 1, gone); !errors.As(err, new(*UnreachableError)) {
			t.Errorf("a swap in doubt on a chain that is down: %v", err)
		}
		l.fail(nil)
		followAll(t, x)
		mustFindSwap(t, x, 1, moved, true)
	})
}

// swapped returns a swap of the tests, as its chain reports it.
func swapped(number byte) told {
	return told{order.ID{30: 0x5a, 31: number}, order.Swapped{
		Sender: chain.NewAddress([]byte{18: 1, 19: number}), Recipient: chain.NewAddress([]byte{19: 2}),
		TokenIn: chain.NativeCoin(chain.EVM), AmountIn: chain.NewAmount(1000 + uint64(number)),
		TokenOut: chain.NewAddress([]byte("out token")), AmountOut: chain.NewAmount(900), Fee: chain.NewAmount(uint64(number)),
		ReferralCode: uint32(number),
	}}
}

// withShare returns a swap that paid an affiliate, which may be absent.
func withShare(number byte, to chain.Address, share uint64) told {
	t := swapped(number)
	fact := t.fact.(order.Swapped)
	fact.Affiliate = &order.Affiliate{Beneficiary: to, Amount: chain.NewAmount(share)}
	return told{t.id, fact}
}

// mineSwaps adds a block of transactions with swaps. Events of swaps do not include the transaction's sender.
func (l *testChain) mineSwaps(txs ...[]told) []chain.TxHash {
	hashes := l.mine(txs...)
	l.mu.Lock()
	defer l.mu.Unlock()
	newest := l.blocks[len(l.blocks)-1].events
	for i := range newest {
		if _, is := newest[i].Swap(); is {
			newest[i].At.Initiator = chain.Address{}
		}
	}
	return hashes
}

// swaps returns all swaps that are on the chain now.
func (l *testChain) swaps() (swaps []order.Swap) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, b := range l.blocks {
		_, in := ledger.Parted(b.events)
		swaps = append(swaps, in...)
	}
	return swaps
}

// checkSwaps compares the stored swaps, and their counts, with those on the chains.
func checkSwaps(t *testing.T, db *store.DB, ledgers ...*testChain) {
	t.Helper()
	var want, got []order.Swap
	for _, l := range ledgers {
		want = append(want, l.swaps()...)
		events := must.Get(ledger.Ledger{DB: db}.EventsBetween(t.Context(), l.id, ledger.Range{From: 0, To: 1000}))(t)
		_, swaps := ledger.Parted(events)
		got = append(got, swaps...)
	}
	if diff := cmp.Diff(want, got, compare); diff != "" {
		t.Errorf("swaps (-on the chains +stored):\n%s", diff)
	}
	listed, err := listFrom(t.Context(), ledger.Ledger{DB: db}, list.Swaps, list.Filter{}, 0, 1000)
	for _, each := range listed.Items {
		if !slices.ContainsFunc(want, func(s order.Swap) bool { return s.ID == each.Swap.ID }) {
			t.Errorf("swap %s is listed, and on no chain", each.Swap.ID)
		}
	}
	ids := map[order.ID]bool{}
	for _, s := range want {
		ids[s.ID] = true
	}
	if err != nil || len(listed.Items) != len(ids) {
		t.Errorf("%d swaps are listed, %v, want %d", len(listed.Items), err, len(ids))
	}
	checkListed(t, db)
}

func TestSwapsFollowTheChain(t *testing.T) {
	onBoth(t, func(t *testing.T, db *store.DB) {
		l, d := newTestChain(1), newDeal(1, 1, 137)
		affiliate := chain.NewAddress([]byte("affiliate"))
		l.mineSwaps([]told{swapped(1), withShare(2, affiliate, 9)}, []told{d.created(), withShare(3, chain.Address{}, 8)})
		l.mineSwaps([]told{withShare(4, affiliate, 0)})
		changed := map[order.ID]chain.TxHash{}
		f := newFollower(db, 1, l, quietly(follow.Options{Observer: observed{changed: func(changes []order.Change) {
			for _, c := range changes {
				changed[c.Order] = c.Creation
			}
		}}}))
		catchUp(t, f)
		checkSwaps(t, db, l)

		for depth := 1; depth <= 3; depth++ { // each block comes again in another one, without one of its swaps
			l.drop(depth)
			clear(changed)
			l.mineEmpty(depth - 1)
			last := l.mineSwaps([]told{swapped(5), swapped(4)}, []told{withShare(3, affiliate, 8)})
			l.mine()
			catchUp(t, f)
			checkSwaps(t, db, l)
			if !db.IsReplicated() && changed[swapped(4).id] != last[0] {
				t.Errorf("after a reorg of %d blocks %v changed, want swap %s too", depth, changed, swapped(4).id)
			}
		}
		// A restart goes on from there, and begins anew with nothing.
		l.mineSwaps([]told{swapped(9)})
		catchUp(t, newFollower(db, 1, l, quietly(follow.Options{})))
		checkSwaps(t, db, l)
	})
}
