package query

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/follow"
)

// gated is a chain that blocks calls of Block until its gate opens.
type gated struct {
	*testChain
	gate chan struct{}
}

func (g *gated) Block(ctx context.Context, number uint64) (order.Block, error) {
	select {
	case <-g.gate:
	case <-ctx.Done():
		return order.Block{}, ctx.Err()
	}
	return g.testChain.Block(ctx, number)
}

// openGate lets all calls through, closeGate none.
func (g *gated) openGate()  { close(g.gate) }
func (g *gated) closeGate() { g.gate = make(chan struct{}) }

// doubtful returns an index of one chain, with an order delivered in a block that a reorg has dropped: the follower has
// read the new head and waits for a block.
func doubtful(t *testing.T) (x *Index, chain1 *gated, followed chan error) {
	t.Helper()
	chain1 = &gated{testChain: newTestChain(1), gate: make(chan struct{})}
	chain1.openGate()
	d := newDeal(1, 1, 1)
	chain1.mine([]told{d.created()})
	chain1.mine([]told{d.fulfilled()})
	x = newIndex(openStore(t), map[chain.ID]order.Source{1: chain1}, quietly(follow.Options{Chains: evmChains(1)}))
	followAll(t, x)
	if got := lockedOrders(t, x); got != 1 {
		t.Fatalf("%d orders are locked, want 1", got)
	}
	chain1.drop(1)
	chain1.mine()
	chain1.closeGate()
	followed = make(chan error, 1)
	go func() { followed <- x.Followers[0].CatchUp(t.Context()) }()
	synctest.Wait()
	return x, chain1, followed
}

func TestLockedTellsOfAReorgThatIsNotCarriedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, chain1, followed := doubtful(t)
		begun := time.Now()
		var unreachable *UnreachableError
		_, _, err := x.Locked(t.Context(), taker)
		if !errors.As(err, &unreachable) || len(unreachable.Chains) != 1 || time.Since(begun) > doubtLimit {
			t.Errorf("Locked after %v: %v, want an *UnreachableError about chain 1", time.Since(begun), err)
		}
		left, leave := context.WithCancel(t.Context())
		leave()
		if _, _, err := x.Locked(left, taker); !errors.Is(err, context.Canceled) {
			t.Errorf("Locked for a caller who left: %v", err)
		}
		chain1.openGate()
		must.Do(t, <-followed)
		if got := lockedOrders(t, x); got != 0 {
			t.Errorf("%d orders are locked, want none", got)
		}
	})
}

// TestJumpIsInDoubtAsSoonAsItIsCompared lets the follower read one block at a time. Until the first one arrives a head
// far ahead looks the same as one of another branch; from then on the chain is not answered about.
func TestJumpIsInDoubtAsSoonAsItIsCompared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		chain1 := &gated{testChain: newTestChain(1), gate: make(chan struct{})}
		chain1.openGate()
		d := newDeal(1, 1, 1)
		chain1.mine([]told{d.created(), d.fulfilled()})
		changes := 0
		x := newIndex(openStore(t), map[chain.ID]order.Source{1: chain1}, quietly(follow.Options{
			Chains: evmChains(1), Observer: observed{branch: func(id chain.ID) { changes += int(id) }},
		}))
		followAll(t, x)
		chain1.drop(1)
		chain1.mineEmpty(4)
		chain1.closeGate()
		followed := make(chan error, 1)
		go func() { followed <- x.Followers[0].CatchUp(t.Context()) }()
		synctest.Wait()
		if got := lockedOrders(t, x); got != 1 || changes != 0 {
			t.Errorf("before the comparison %d orders are locked and the branch changed %d times, want 1 and 0", got, changes)
		}
		chain1.gate <- struct{}{} // the block read last
		synctest.Wait()
		answered := make(chan int, 1)
		go func() { answered <- lockedOrders(t, x) }()
		synctest.Wait()
		if len(answered) > 0 || changes != 1 {
			t.Errorf("after it the branch changed %d times, want once; answered what is locked: %v, want not yet", changes, len(answered) > 0)
		}
		chain1.openGate()
		must.Do(t, <-followed)
		if got := <-answered; got != 0 {
			t.Errorf("%d orders are locked, want none", got)
		}
	})
}

// TestWhoWatchesReportsReorgsAlone lets one follower watch another one's work on the same store.
func TestWhoWatchesReportsReorgsAlone(t *testing.T) {
	ledger, store, changes := newTestChain(1), openStore(t), 0
	leads := newFollower(store, 1, ledger, quietly(follow.Options{}))
	watches := newFollower(store, 1, ledger, quietly(follow.Options{Observer: observed{branch: func(chain.ID) { changes++ }}}))
	replace := func(dropped int) {
		ledger.drop(dropped)
		ledger.mineEmpty(dropped + 1)
	}
	for _, step := range []struct {
		name    string
		does    func()
		changes int
		doubted bool
	}{
		{"nothing", func() {}, 0, false},
		{"a block", func() { ledger.mine(); catchUp(t, leads) }, 0, false},
		{"a jump", func() { replace(0); replace(0); catchUp(t, leads) }, 0, false},
		{"a reorg that was carried out", func() { replace(2); replace(0); catchUp(t, leads) }, 1, false},
		{"one that was not", func() { replace(1); replace(0) }, 2, true},
		{"until now", func() { catchUp(t, leads) }, 3, false},
	} {
		step.does()
		watches.Watch(t.Context())
		if doubted := watches.State().Doubt != nil; changes != step.changes || doubted != step.doubted {
			t.Errorf("%s: the branch changed %d times, in doubt %v; want %d, %v", step.name, changes, doubted, step.changes, step.doubted)
		}
	}
	replace(1)
	catchUp(t, leads)
	replace(0)
	if catchUp(t, watches); changes != 4 {
		t.Errorf("who took over after a reorg reported %d changes, want 4", changes)
	}
}

// TestWhoWatchesAFastChainIsLevel has another block before each look, which is stored only after it.
func TestWhoWatchesAFastChainIsLevel(t *testing.T) {
	ledger, store := newTestChain(1), openStore(t)
	leads, watches := newFollower(store, 1, ledger, quietly(follow.Options{})), newFollower(store, 1, ledger, quietly(follow.Options{}))
	var last time.Time
	for range 3 {
		catchUp(t, leads)
		ledger.mine()
		last = time.Now()
		watches.Watch(t.Context())
	}
	if level := watches.State().Level; level.IsZero() || level.After(last) {
		t.Errorf("level as of %v, want before the last look, %v", level, last)
	}
	ledger.fail(errors.New("no route to host"))
	watches.Watch(t.Context())
	ledger.fail(nil)
	before := watches.State().Level
	if watches.Watch(t.Context()); watches.State().Level != before {
		t.Error("level as of a look that saw no head")
	}
}

func TestNothingIsSaidBeforeAnythingWasRead(t *testing.T) {
	path := t.TempDir() + "/orders.db"
	ledger := newTestChain(1)
	sources := map[chain.ID]order.Source{1: ledger, 137: newTestChain(137)}
	x := newIndex(openStoreAt(t, path), sources, quietly(follow.Options{Chains: evmChains(1, 137)}))
	if _, _, err := x.Locked(t.Context(), taker); !errors.Is(err, ErrEmpty) {
		t.Errorf("Locked before a chain was reached: %v, want ErrEmpty", err)
	}
	catchUp(t, x.Followers[0])
	if got := lockedOrders(t, x); got != 0 {
		t.Errorf("%d orders are locked, want none", got)
	}
	ledger.fail(errors.New("no route to host"))
	again := newIndex(openStoreAt(t, path), sources, quietly(follow.Options{Chains: evmChains(1, 137)}))
	if _, _, err := again.Locked(t.Context(), taker); err != nil {
		t.Errorf("Locked of a store that was filled earlier: %v", err)
	}
	if err := again.Followers[0].CatchUp(t.Context()); err == nil {
		t.Error("the head of a chain that is down was read")
	}
	if got, want := lagOf(again, 1).IndexedTime, uint64(1_000_000); got != want {
		t.Errorf("while its chain is down the store is as of %d, want %d", got, want)
	}
}
