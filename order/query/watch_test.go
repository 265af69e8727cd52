package query

import (
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/follow"
	"crossgate/order/ledger"
)

// TestAChainThatAnotherReplicaKeepsUpWithIsLookedAtRarely has what a replica that watches knows of a chain, and when it
// asks for its head.
func TestAChainThatAnotherReplicaKeepsUpWithIsLookedAtRarely(t *testing.T) {
	pace := follow.Pace{Asked: time.Second, Listed: 15 * time.Second, Idle: time.Minute, Retired: time.Hour}
	for name, test := range map[string]struct {
		head  uint64
		age   time.Duration // of the newest stored block
		asked follow.Demand
		want  time.Duration
	}{
		"kept up":                 {900, 70 * time.Second, follow.Unasked, follow.Rarely},
		"the other one is behind": {900, 10 * time.Minute, follow.Unasked, time.Minute},
		"never looked at":         {0, 70 * time.Second, follow.Unasked, time.Minute},
		"asked for what is owed":  {900, 70 * time.Second, follow.AskedWhatIsLocked, 15 * time.Second},
		"asked for orders":        {900, 70 * time.Second, follow.AskedAboutOrders, time.Second},
	} {
		x := newIndex(openStore(t), map[chain.ID]order.Source{1: newTestChain(1)}, quietly(follow.Options{Chains: evmChains(1), Pace: pace}))
		f := x.Followers[0]
		f.Head.Number, f.Position.BlockTime = test.head, uint64(time.Now().Add(-test.age).Unix())
		f.Demand.Orders.Store(0)
		if test.asked != follow.Unasked {
			f.Demand.Ask(test.asked)
		}
		if got := f.UntilWatch(); got != test.want {
			t.Errorf("%s: looked at after %v, want %v", name, got, test.want)
		}
	}
}

// TestWhatAnotherReplicaStoresIsNews has blocks stored after the last head that was read: they end the epoch, are the
// newest that is known of the chain, and say how old the index is.
func TestWhatAnotherReplicaStoresIsNews(t *testing.T) {
	x := newIndex(openStore(t), map[chain.ID]order.Source{1: newTestChain(1)}, quietly(follow.Options{Chains: evmChains(1)}))
	f := x.Followers[0]
	now := time.Now()
	f.Head.Number, f.LevelAt = 900, now.Add(-time.Hour)
	f.Position = ledger.Checkpoint{Block: 905, BlockTime: uint64(now.Add(-20 * time.Second).Unix())}
	before := f.Epoch
	f.Overtaken(905)
	after := f.Epoch
	f.Overtaken(905)
	if before == after || f.Epoch != after {
		t.Error("want an epoch to end with a later block, and none with the same again")
	}
	if told := f.Basis(); told.Head != 905 || told.By(now) > 25*time.Second {
		t.Errorf("head %d, %v behind, want 905 and 20 s", told.Head, told.By(now))
	}
	f.Accept(order.Head{Latest: order.Block{Number: 904}})
	if told := f.Basis(); told.Head != 904 {
		t.Errorf("head %d after one that was read, want 904", told.Head)
	}
}
