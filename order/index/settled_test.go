package index

import (
	"slices"
	"testing"

	"crossgate/chain"
	"crossgate/order"
)

func TestOrdersSettleWithTheirChains(t *testing.T) {
	w := newWorld()
	x := w.index(t)
	w.fulfil()
	expect := func(when string, settled bool) {
		t.Helper()
		followAll(t, x)
		if got := x.Settled(mustFind(t, x, w.creation)); got != settled {
			t.Errorf("%s: settled %v, want %v", when, got, settled)
		}
	}
	expect("fulfilled just now", false)
	w.give.mine([]told{})
	for range w.give.finality {
		w.give.mine()
	}
	expect("the creation is final, the fulfilment is not", false)
	for range w.take.finality {
		w.take.mine()
	}
	expect("both are final", true)
	w.take.mine([]told{w.deal.sentUnlock()})
	expect("the unlock was sent just now", false)
}

func TestOrdersSettleOnTheChainsThatTellOfThem(t *testing.T) {
	give := newLedger(1)
	creation := give.mine([]told{newDeal(1, 1, chain.Solana).created()})[0]
	x := New(openStore(t), map[chain.ID]order.Source{1: give}, quietly(Options{Chains: evmChains(1)}))
	if x.Settled(mustFind(t, x, creation)) {
		t.Error("settled before the chain told what is final")
	}
	for range give.finality {
		give.mine()
	}
	followAll(t, x)
	if !x.Settled(mustFind(t, x, creation)) {
		t.Error("not settled, though the chain that is not followed told nothing of it")
	}
}

// TestUnreadAreEventsThatTheFollowersHaveNotSeen moves an order on ahead of the followers, on one chain after the other.
func TestUnreadAreEventsThatTheFollowersHaveNotSeen(t *testing.T) {
	w := newWorld()
	x := w.index(t)
	expect := func(when string, want ...chain.ID) {
		t.Helper()
		if got := x.Unread(t.Context(), mustFind(t, x, w.creation)); !slices.Equal(got, want) {
			t.Errorf("%s: unread %v, want %v", when, got, want)
		}
	}
	expect("nothing was read", 1)
	w.fulfil()
	expect("delivered, nothing was read", 1, 137)
	follow(t, x.byChain[1])
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
	for range w.give.finality {
		w.give.mine()
	}
	followAll(t, x)
	expect("all of the give chain is final")
	if err := x.store.Close(); err != nil {
		t.Fatal(err)
	}
	w.take.mine([]told{w.deal.sentUnlock()})
	expect("the store is away", 137)
}

// TestFollowersTellOfNewHeads counts what a follower says before it says anything about the head.
func TestFollowersTellOfNewHeads(t *testing.T) {
	ledger := newLedger(1)
	var told []chain.ID
	x := New(openStore(t), map[chain.ID]order.Source{1: ledger}, quietly(Options{
		Chains: evmChains(1), Advanced: func(id chain.ID) { told = append(told, id) },
	}))
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
		if len(told) != step.want {
			t.Errorf("at block %d: told of %d heads, want %d", x.Lag()[1].Head, len(told), step.want)
		}
	}
}
