package index

import (
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/order"
)

// TestAChainThatAnotherReplicaKeepsUpWithIsLookedAtRarely has what a replica that watches knows of a chain, and when it
// asks for its head.
func TestAChainThatAnotherReplicaKeepsUpWithIsLookedAtRarely(t *testing.T) {
	pace := Pace{Asked: time.Second, Listed: 15 * time.Second, Idle: time.Minute, Retired: time.Hour}
	for name, test := range map[string]struct {
		head  uint64
		age   time.Duration // of the newest stored block
		asked Demand
		want  time.Duration
	}{
		"kept up":                 {900, 70 * time.Second, Unasked, rarely},
		"the other one is behind": {900, 10 * time.Minute, Unasked, time.Minute},
		"never looked at":         {0, 70 * time.Second, Unasked, time.Minute},
		"asked for what is owed":  {900, 70 * time.Second, AskedWhatIsLocked, 15 * time.Second},
		"asked for orders":        {900, 70 * time.Second, AskedAboutOrders, time.Second},
	} {
		x := New(openStore(t), map[chain.ID]order.Source{1: newLedger(1)}, quietly(Options{Chains: evmChains(1), Pace: pace}))
		f := x.followers[0]
		f.sync.head.Number, f.sync.position.blockTime = test.head, uint64(time.Now().Add(-test.age).Unix())
		f.demand.orders.Store(0)
		if test.asked != Unasked {
			f.demand.ask(test.asked)
		}
		if got := f.untilWatch(); got != test.want {
			t.Errorf("%s: looked at after %v, want %v", name, got, test.want)
		}
	}
}

// TestWhatAnotherReplicaStoresIsNews has blocks stored after the last head that was read: they end the epoch, are the
// newest that is known of the chain, and say how old the index is.
func TestWhatAnotherReplicaStoresIsNews(t *testing.T) {
	x := New(openStore(t), map[chain.ID]order.Source{1: newLedger(1)}, quietly(Options{Chains: evmChains(1)}))
	f := x.followers[0]
	now := time.Now()
	f.sync.head.Number, f.sync.levelAt = 900, now.Add(-time.Hour)
	f.sync.position = checkpoint{block: 905, blockTime: uint64(now.Add(-20 * time.Second).Unix())}
	before := f.sync.epoch
	f.sync.overtaken(905)
	after := f.sync.epoch
	f.sync.overtaken(905)
	if before == after || f.sync.epoch != after {
		t.Error("want an epoch to end with a later block, and none with the same again")
	}
	if told := f.basis(); told.Head != 905 || told.By(now) > 25*time.Second {
		t.Errorf("head %d, %v behind, want 905 and 20 s", told.Head, told.By(now))
	}
	f.sync.accept(order.Head{Latest: order.Block{Number: 904}})
	if told := f.basis(); told.Head != 904 {
		t.Errorf("head %d after one that was read, want 904", told.Head)
	}
}
