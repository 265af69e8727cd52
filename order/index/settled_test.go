package index

import (
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
