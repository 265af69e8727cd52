package query

import (
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

// swapped is a swap of the tests, as its chain tells it.
func swapped(number byte) told {
	return told{order.ID{30: 0x5a, 31: number}, order.Swapped{
		Sender: chain.NewAddress([]byte{18: 1, 19: number}), Recipient: chain.NewAddress([]byte{19: 2}),
		TokenIn: chain.NativeCoin(chain.EVM), AmountIn: chain.NewAmount(1000 + uint64(number)),
		TokenOut: chain.NewAddress([]byte("out token")), AmountOut: chain.NewAmount(900), Fee: chain.NewAmount(uint64(number)),
		ReferralCode: uint32(number),
	}}
}

// withShare is a swap that paid an affiliate, who may be absent.
func withShare(number byte, to chain.Address, share uint64) told {
	t := swapped(number)
	fact := t.fact.(order.Swapped)
	fact.Affiliate = &order.Affiliate{Beneficiary: to, Amount: chain.NewAmount(share)}
	return told{t.id, fact}
}

// mineSwaps seals a block of transactions with swaps. An event of a swap does not tell the sender of its transaction.
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

// swaps are all that the ledger holds now.
func (l *testChain) swaps() (swaps []order.Swap) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, b := range l.blocks {
		_, in := ledger.Parted(b.events)
		swaps = append(swaps, in...)
	}
	return swaps
}

// checkSwaps compares all swaps that are stored, and their counts, with those that the ledgers hold.
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
	for name, db := range map[string]*store.DB{"SQLite": openStore(t), "PostgreSQL": openPostgres(t)} {
		t.Run(name, func(t *testing.T) {
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
}
