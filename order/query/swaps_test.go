package query

import (
	"errors"
	"testing"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/follow"
	"crossgate/store"
)

// mustFindSwap finds the only swap of a transaction, by the transaction and where isIndexed by its id too.
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

// TestASwapInDoubtIsAskedFor has a reorg that was seen and whose blocks are not withdrawn yet.
func TestASwapInDoubtIsAskedFor(t *testing.T) {
	for name, db := range map[string]*store.DB{"SQLite": openStore(t), "PostgreSQL": openPostgres(t)} {
		t.Run(name, func(t *testing.T) {
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
}
