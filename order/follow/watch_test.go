package follow

import (
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/ledger"
	"crossgate/store"
)

// TestAChainThatAnotherReplicaKeepsUpWithIsLookedAtrarely covers a watching replica's knowledge of a chain, and when it
// requests the head.
func TestAChainThatAnotherReplicaKeepsUpWithIsLookedAtrarely(t *testing.T) {
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
		f := following(t, pace)
		f.update(func(is *State) {
			is.Head.Number, is.Position.BlockTime = test.head, uint64(time.Now().Add(-test.age).Unix())
		})
		f.Demand.Orders.Store(0)
		if test.asked != Unasked {
			f.Demand.ask(test.asked)
		}
		if got := f.untilWatch(); got != test.want {
			t.Errorf("%s: looked at after %v, want %v", name, got, test.want)
		}
	}
}

// TestWhatAnotherReplicaStoresIsNews stores blocks after the last head that was read: they end the epoch, become the
// newest known blocks of the chain, and determine the age of the index.
func TestWhatAnotherReplicaStoresIsNews(t *testing.T) {
	f, now := following(t, Pace{}), time.Now()
	f.update(func(is *State) {
		is.Head.Number, is.Level = 900, now.Add(-time.Hour)
		is.Position = ledger.Checkpoint{Block: 905, BlockTime: uint64(now.Add(-20 * time.Second).Unix())}
	})
	before := f.State().epoch
	f.update(func(is *State) { is.overtaken(905) })
	after := f.State().epoch
	f.update(func(is *State) { is.overtaken(905) })
	if before == after || f.State().epoch != after {
		t.Error("want an epoch to end with a later block, and none with the same again")
	}
	if told := f.Basis(); told.Head != 905 || told.By(now) > 25*time.Second {
		t.Errorf("head %d, %v behind, want 905 and 20 s", told.Head, told.By(now))
	}
	f.accept(order.Head{Latest: order.Block{Number: 904}})
	if told := f.Basis(); told.Head != 904 {
		t.Errorf("head %d after one that was read, want 904", told.Head)
	}
}

// following returns a follower of a chain that is never called.
func following(t *testing.T, pace Pace) *Follower {
	t.Helper()
	return unasked(t, pace).Followers[0]
}

// unasked returns an index of only that chain.
func unasked(t *testing.T, pace Pace) *Chains {
	t.Helper()
	db := must.Get(store.OpenSQLite(t.Context(), t.TempDir()+"/orders.db"))(t)
	t.Cleanup(func() { db.Close() })
	return New(db, map[chain.ID]order.Source{1: nil}, Options{Pace: pace})
}
