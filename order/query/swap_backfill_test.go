package query

import (
	"errors"
	"testing"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/audit"
	"crossgate/order/follow"
	"crossgate/order/ledger"
	"crossgate/order/list"
	"crossgate/store"
)

// routed is a registry of one chain that has the public router.
func routed() chain.Registry {
	router := chain.NewAddress([]byte("router"))
	return chain.NewRegistry(chain.Chain{ID: 1, Family: chain.EVM, Contracts: chain.Contracts{Router: router}})
}

// swapHistory is a ledger with a swap in each block, and an order in some.
func swapHistory(blocks byte) *testChain {
	l := newTestChain(1)
	for n := byte(1); n <= blocks; n++ {
		txs := [][]told{{swapped(n)}}
		if n%5 == 0 {
			txs = append(txs, []told{newDeal(n, 1, 137).created()})
		}
		l.mineSwaps(txs...)
	}
	return l
}

// readFrom returns from which block on chain 1 is known for swaps, and whether it is at all.
func readFrom(t *testing.T, db *store.DB) (uint64, bool) {
	t.Helper()
	from, err := ledger.Ledger{DB: db}.SwapsFrom(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	first, known := from[1]
	return first.Number, known
}

// TestBackfillReadsSwapsOfBlocksThatWereReadForOrders has a release from before swaps follow a chain, and this one
// after it, or not yet.
func TestBackfillReadsSwapsOfBlocksThatWereReadForOrders(t *testing.T) {
	for name, followed := range map[string]bool{"followed since the upgrade": true, "not followed since": false} {
		for _, db := range []*store.DB{openStore(t), openPostgres(t)} {
			t.Run(name, func(t *testing.T) {
				l := swapHistory(40)
				o := quietly(follow.Options{Chains: routed(), Lookback: 20, Range: 1})
				followAll(t, newIndex(db, map[chain.ID]order.Source{1: withoutSwaps{l}}, o))
				execute(t, db, `DELETE FROM swap_checkpoints`) // as that release would not have written it
				x := newIndex(db, map[chain.ID]order.Source{1: l}, o)
				if followed {
					l.mineSwaps([]told{swapped(41)})
					followAll(t, x)
				}
				estimate := audit.Of(x.Chains).EstimateBackfill(t.Context())[0]
				var last audit.Progress
				if err := audit.Of(x.Chains).Backfill(t.Context(), func(p audit.Progress) { last = p }); err != nil {
					t.Fatal(err)
				}
				checkSwaps(t, db, l)
				if from, known := readFrom(t, db); !known || from != 0 {
					t.Errorf("known for swaps from block %d, %v, want 0", from, known)
				}
				if last.Read != last.Total || last.Total != 41 || estimate.Blocks() != last.Total {
					t.Errorf("at the end %+v, want 41 blocks as estimated: %d", last, estimate.Blocks())
				}
				if again := audit.Of(x.Chains).EstimateBackfill(t.Context())[0]; again.Blocks() != 0 {
					t.Errorf("%d blocks are left to read", again.Blocks())
				}
				// Blocks that were not final when the backfill read them may still be dropped.
				l.drop(3)
				l.mineSwaps([]told{swapped(50)})
				l.mineSwaps([]told{swapped(51)})
				l.mine()
				l.mine()
				followAll(t, x)
				checkSwaps(t, db, l)
			})
		}
	}
}

// TestBackfillLeavesSwapsThatMayHaveBeenDropped stores what was read before a reorg only where it cannot matter.
func TestBackfillLeavesSwapsThatMayHaveBeenDropped(t *testing.T) {
	db, l := openStore(t), swapHistory(40)
	s := ledger.Ledger{DB: db}
	catchUp(t, follow.NewFollower(db, 1, withoutSwaps{l}, quietly(follow.Options{})))
	execute(t, db, `DELETE FROM swap_checkpoints`)
	position, _, err := s.Checkpoint(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.BeginSwaps(t.Context(), store.Lease{}, 1, position, 38); err != nil {
		t.Fatal(err)
	}
	extend := func(from, to uint64) error {
		return s.ExtendForSwaps(t.Context(), store.Lease{}, 1, position.Reorgs-1, ledger.Contents{Range: ledger.Range{From: from, To: to}})
	}
	if err := extend(39, 40); !errors.Is(err, ledger.ErrMoved) {
		t.Errorf("blocks that are not final, read before a reorg: %v, want errMoved", err)
	}
	execute(t, db, `UPDATE swap_checkpoints SET first_block = 39`)
	if err := extend(30, 38); err != nil {
		t.Errorf("final blocks: %v", err)
	}
}

// TestSwapsAreLeftOut follows a chain without its swaps, and takes them in again.
func TestSwapsAreLeftOut(t *testing.T) {
	for name, db := range map[string]*store.DB{"SQLite": openStore(t), "PostgreSQL": openPostgres(t)} {
		t.Run(name, func(t *testing.T) {
			l := swapHistory(10)
			l.finality = 1
			with := newIndex(db, map[chain.ID]order.Source{1: l}, quietly(follow.Options{Chains: routed(), Lookback: 5}))
			without := newIndex(db, map[chain.ID]order.Source{1: withoutSwaps{l}}, quietly(follow.Options{Chains: routed(), WithoutSwaps: true}))
			followAll(t, with)
			l.mineSwaps([]told{swapped(11)})
			l.mineSwaps([]told{swapped(12)})
			followAll(t, without)
			if err := audit.Of(without.Chains).Backfill(t.Context(), func(audit.Progress) {}); err != nil {
				t.Fatal(err)
			}
			_, _, err := without.List(t.Context(), list.Swaps, list.Filter{}, 0, 10)
			_, _, mixedErr := without.List(t.Context(), list.Both, list.Filter{}, 0, 10)
			if !errors.Is(err, ErrWithoutSwaps) || !errors.Is(mixedErr, ErrWithoutSwaps) {
				t.Errorf("lists of swaps that are left out: %v, %v", err, mixedErr)
			}
			if _, known := readFrom(t, db); known {
				t.Error("the chain counts as read for swaps")
			}
			got, err := without.Followers[0].FirstReading(t.Context(), ledger.Range{From: 0, To: 12}, []ledger.Range{{From: 0, To: 12}})
			if _, swaps := ledger.Parted(got); err != nil || len(swaps) > 0 {
				t.Errorf("the first reading has %d swaps, which the second leaves out, %v", len(swaps), err)
			}

			l.mineSwaps([]told{swapped(13)})
			followAll(t, with)
			if err := audit.Of(with.Chains).Backfill(t.Context(), func(audit.Progress) {}); err != nil {
				t.Fatal(err)
			}
			checkSwaps(t, db, l)
		})
	}
}
