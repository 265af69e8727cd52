package query

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/follow"
)

func (l *testChain) Origin(ctx context.Context) (uint64, error) {
	defer l.mu.Unlock()
	return l.origin, l.enter(ctx, "Origin")
}

func (l *testChain) States(ctx context.Context, ids []order.ID) ([]order.StoredState, error) {
	defer l.mu.Unlock()
	if err := l.enter(ctx, "States"); err != nil {
		return nil, err
	}
	l.asked["orders of States"] += len(ids)
	kept := make([]order.StoredState, len(ids))
	for i, id := range ids {
		if kept[i].Err = l.unclear[id]; kept[i].Err != nil {
			continue
		}
		for _, b := range l.blocks {
			for _, e := range b.events {
				if e.Order == id && order.SideOf(e.Fact) == order.GiveSide {
					kept[i] = keptAfter(kept[i], e.Fact)
				}
			}
		}
	}
	return kept, nil
}

// TakeStates is that of a chain that takes no orders.
func (l *testChain) TakeStates(ctx context.Context, ids []order.ID) ([]order.StoredState, error) {
	return make([]order.StoredState, len(ids)), ctx.Err()
}

func keptAfter(kept order.StoredState, fact order.Fact) order.StoredState {
	switch fact := fact.(type) {
	case order.Created:
		return order.StoredState{State: order.StateCreated, Amount: fact.Terms.Give.Amount}
	case order.GiveIncreased:
		kept.Amount = fact.Final
	case order.Claimed:
		return order.StoredState{State: order.StateClaimedUnlock}
	}
	return kept
}

func lockedOrders(t *testing.T, x *Index) int {
	t.Helper()
	locked, _, err := x.Locked(t.Context(), taker)
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, c := range locked {
		for _, token := range c.Tokens {
			for _, target := range token.Targets {
				count += len(target.Orders)
			}
		}
	}
	return count
}

// TestLockedAsksForCreationsBeforeTheLookback follows chains from a block after the creations.
func TestLockedAsksForCreationsBeforeTheLookback(t *testing.T) {
	give, take := newTestChain(1), newTestChain(137)
	first, patched, paid, forged := newDeal(1, 1, 137), newDeal(2, 1, 137), newDeal(3, 1, 137), newDeal(4, 1, 137)
	give.mine([]told{first.created(), patched.created(), paid.created()})
	give.mine([]told{{patched.id, order.GiveIncreased{Final: chain.NewAmount(5000)}}, paid.claimedUnlock()})
	for range 30 {
		give.mine()
		take.mine()
	}
	take.mine([]told{first.fulfilled(), patched.fulfilled(), paid.fulfilled(), forged.fulfilled()})
	x := newIndex(openStore(t), map[chain.ID]order.Source{1: give, 137: take},
		quietly(follow.Options{Chains: evmChains(1, 137), Lookback: 10}))
	followAll(t, x)
	locked, _, err := x.Locked(t.Context(), taker)
	if err != nil || len(locked) != 1 || locked[0].Tokens[0].Amount != chain.NewAmount(6000) {
		t.Errorf("Locked = %+v, %v, want 1000 and the patched 5000", locked, err)
	}
	if asked := give.times("States"); asked != 1 {
		t.Errorf("the give chain was asked %d times, want once for all orders", asked)
	}
	before := give.times("orders of States")
	if again, _, err := x.Locked(t.Context(), taker); err != nil || len(again) != 1 || again[0].Tokens[0].Amount != chain.NewAmount(6000) {
		t.Errorf("Locked = %+v, %v, want the same once more", again, err)
	}
	if asked := give.times("orders of States") - before; asked != 3 {
		t.Errorf("the give chain was asked about %d orders once more, want 3: it does not have the fourth", asked)
	}
}

func TestLockedIsNoGuess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		give, take := newTestChain(1), newTestChain(137)
		d := newDeal(1, 1, 137)
		give.mine([]told{d.created()})
		give.mineEmpty(30)
		take.mine([]told{d.fulfilled()})
		x := newIndex(openStore(t), map[chain.ID]order.Source{1: give, 137: take},
			quietly(follow.Options{Chains: evmChains(1, 137), Lookback: 10}))
		followAll(t, x)
		give.fail(errors.New("no route to host"))
		var unreachable *UnreachableError
		if _, _, err := x.Locked(t.Context(), taker); !errors.As(err, &unreachable) {
			t.Errorf("with the give chain down: %v, want an *UnreachableError", err)
		}
		give.fail(nil)
		if got := lockedOrders(t, x); got != 1 {
			t.Errorf("%d orders are locked, want 1", got)
		}
	})
}

func TestLockedAsksAGiveChainThatIsBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.fulfil()
		x := w.index(t)
		followAll(t, x)
		w.give.mine([]told{w.deal.claimedUnlock()})
		if got := lockedOrders(t, x); got != 1 || w.give.times("States") != 0 {
			t.Errorf("while the index is level %d orders are locked and the chain was asked %d times", got, w.give.times("States"))
		}
		<-time.After(2 * time.Minute) // without any follower running
		if got := lockedOrders(t, x); got != 0 {
			t.Errorf("%d orders are locked, want none: it was claimed", got)
		}
		w.give.drop(1)
		w.give.mine()
		w.give.fail(errors.New("no route to host"))
		<-time.After(2 * time.Hour)
		if got := lockedOrders(t, x); got != 1 {
			t.Errorf("%d orders are locked, want the one as indexed", got)
		}
	})
}

// A chain that the configuration no longer has is not in the basis: nothing says that its locks were claimed since.
func TestLockedIsAboutFollowedChains(t *testing.T) {
	w, db := newWorld(), openStore(t)
	w.fulfil()
	x := newIndex(db, map[chain.ID]order.Source{1: w.give, 137: w.take}, quietly(follow.Options{Chains: evmChains(1, 137)}))
	followAll(t, x)
	if got := lockedOrders(t, x); got != 1 {
		t.Fatalf("%d orders are locked, want 1", got)
	}
	x = newIndex(db, map[chain.ID]order.Source{137: w.take}, quietly(follow.Options{Chains: evmChains(1, 137)}))
	followAll(t, x)
	if got := lockedOrders(t, x); got != 0 {
		t.Errorf("%d orders are locked on a chain that is no longer followed, want none", got)
	}
	if got, _, err := x.Locked(t.Context(), chain.Address{}); err != nil || len(got) != 0 {
		t.Errorf("Locked of nobody = %v, %v", got, err)
	}
}

// TestLockedHasDeliveriesWhoseCreationComesNext reads a delivery before the block of its creation, which a reorg drops
// unread.
func TestLockedHasDeliveriesWhoseCreationComesNext(t *testing.T) {
	w := newWorld()
	x := w.index(t)
	w.give.drop(1)
	followAll(t, x) // the whole chain, except for the creation
	w.give.mine([]told{w.deal.created()})
	w.fulfil()
	catchUp(t, x.Of(137))
	locked, basis, err := x.Locked(t.Context(), taker)
	if err != nil || len(locked) != 1 || !slices.Equal(unread(basis), []chain.ID{1}) {
		t.Errorf("Locked = %+v, %v, want the order, with word that its creation was not read", locked, err)
	}
	w.give.drop(1)
	w.give.mine()
	catchUp(t, x.Of(1))
	if got := lockedOrders(t, x); got != 0 {
		t.Errorf("%d orders are locked, want none: the creation was dropped", got)
	}
	w.give.mine([]told{w.deal.created()})
	catchUp(t, x.Of(1))
	locked, basis, err = x.Locked(t.Context(), taker)
	if err != nil || len(locked) != 1 || unread(basis) != nil {
		t.Errorf("Locked = %+v, %v, want the order as it was read", locked, err)
	}
}
