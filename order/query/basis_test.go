package query

import (
	"context"
	"slices"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/follow"
)

func TestAnswersAreFinalWithTheirChains(t *testing.T) {
	w := newWorld()
	x := w.index(t)
	w.fulfil()
	expect := func(when string, settled bool) {
		t.Helper()
		followAll(t, x)
		if got := mustFind(t, x, w.creation).Basis.IsFinal(); got != settled {
			t.Errorf("%s: settled %v, want %v", when, got, settled)
		}
	}
	expect("fulfilled just now", false)
	w.give.mine([]told{})
	w.give.mineEmpty(int(w.give.finality))
	expect("the creation is final, the fulfilment is not", false)
	w.take.mineEmpty(int(w.take.finality))
	expect("both are final", true)
	w.take.mine([]told{w.deal.sentUnlock()})
	expect("the unlock was sent just now", false)
}

func TestAnswersAreFinalOnTheChainsWithEvents(t *testing.T) {
	give := newTestChain(1)
	creation := give.mine([]told{newDeal(1, 1, chain.Solana).created()})[0]
	x := newIndex(openStore(t), map[chain.ID]order.Source{1: give}, quietly(follow.Options{Chains: evmChains(1)}))
	if mustFind(t, x, creation).Basis.IsFinal() {
		t.Error("settled before the chain told what is final")
	}
	give.mineEmpty(int(give.finality))
	followAll(t, x)
	if !mustFind(t, x, creation).Basis.IsFinal() {
		t.Error("not settled, though the chain that is not followed told nothing of it")
	}
}

// TestUnreadAreEventsThatTheFollowersHaveNotSeen advances an order ahead of the followers, chain after chain.
func TestUnreadAreEventsThatTheFollowersHaveNotSeen(t *testing.T) {
	w := newWorld()
	x := w.index(t)
	expect := func(when string, want ...chain.ID) {
		t.Helper()
		if got := unread(mustFind(t, x, w.creation).Basis); !slices.Equal(got, want) {
			t.Errorf("%s: unread %v, want %v", when, got, want)
		}
	}
	expect("nothing was read", 1)
	w.fulfil()
	expect("delivered, nothing was read", 1, 137)
	catchUp(t, x.Of(1))
	expect("the creation was read", 137)
	followAll(t, x)
	expect("both were read")
	w.give.drop(1)
	w.creation = w.give.mine([]told{w.deal.created()})[0]
	expect("the creation stands in another block of the same height", 1)
	followAll(t, x)
	expect("that block was read")
	w.give.mine([]told{{w.deal.id, order.GiveIncreased{Final: chain.NewAmount(5000)}}})
	followAll(t, x)
	expect("a patch, of which the order tells the number of its block only", 1)
	w.give.mineEmpty(int(w.give.finality))
	followAll(t, x)
	expect("all of the give chain is final")
	must.Do(t, x.store.Close())
	w.take.mine([]told{w.deal.sentUnlock()})
	expect("the store is away", 137)
}

// unread lists the chains whose unread blocks a basis includes.
func unread(b order.Basis) (chains []chain.ID) {
	for _, c := range b.Chains {
		if c.Unread {
			chains = append(chains, c.Chain)
		}
	}
	return chains
}

// TestUnreadAnswersHoldUntilTheNextHead counts the heads that invalidate earlier answers.
func TestUnreadAnswersHoldUntilTheNextHead(t *testing.T) {
	ledger := newTestChain(1)
	x := newIndex(openStore(t), map[chain.ID]order.Source{1: ledger}, quietly(follow.Options{Chains: evmChains(1)}))
	asOf := func() (read, unread order.Basis) {
		read, unread = x.Basis(), x.Basis()
		unread.Chains[0].Unread = true
		return read, unread
	}
	read, unread := asOf()
	heads := 0
	for _, step := range []struct {
		does func()
		want int
	}{
		{func() {}, 1},
		{func() {}, 1}, // the same head
		{func() { ledger.mine() }, 2},
		{func() { ledger.mine(); ledger.mine() }, 3},
		{func() { ledger.drop(1); ledger.mine() }, 4},
	} {
		step.does()
		followAll(t, x)
		if !read.Holds() {
			t.Errorf("at block %d: what was read does not hold", lagOf(x, 1).Head)
		}
		if !unread.Holds() {
			heads++
			read, unread = asOf()
		}
		if heads != step.want {
			t.Errorf("at block %d: ended by %d heads, want %d", lagOf(x, 1).Head, heads, step.want)
		}
	}
}

// TestUnreadAnswersEndWithTheirFollower: without a follower no head would end an answer.
func TestUnreadAnswersEndWithTheirFollower(t *testing.T) {
	x := newIndex(openStore(t), map[chain.ID]order.Source{1: newTestChain(1)}, quietly(follow.Options{Chains: evmChains(1)}))
	followAll(t, x)
	b := x.Basis()
	b.Chains[0].Unread = true
	ctx, stop := context.WithCancel(t.Context())
	stop()
	must.Do(t, x.Run(ctx))
	if b.Holds() {
		t.Error("the answer holds, want it to end")
	}
}

// TestAnswersOfOtherReplicasEndWithTheNextHeadHere rebases answers of another replica, loaded before or after the
// newest head here, onto this one.
func TestAnswersOfOtherReplicasEndWithTheNextHeadHere(t *testing.T) {
	ledger := newTestChain(1)
	x := newIndex(openStore(t), map[chain.ID]order.Source{1: ledger}, quietly(follow.Options{Chains: evmChains(1)}))
	loaded := func(at time.Time) order.Basis {
		return order.Basis{At: at, Chains: []order.ChainBasis{{Chain: 1, Unread: true}, {Chain: 10, Unread: true}}}.On(x.Basis())
	}
	if first := loaded(time.Time{}.Add(1)); !first.Holds() {
		t.Error("before the first head: does not hold")
	}
	earlier := time.Now()
	followAll(t, x)
	if late := loaded(earlier); late.Holds() {
		t.Error("loaded before the newest head: holds")
	}
	now := loaded(time.Now())
	if !now.Holds() {
		t.Error("loaded after the newest head: does not hold")
	}
	ledger.mine()
	followAll(t, x)
	if now.Holds() {
		t.Error("holds after a new head")
	}
}
