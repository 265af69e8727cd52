package query

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/follow"
	"crossgate/order/ledger"
	"crossgate/store"
)

// tester is a test, or one run of a property.
type tester interface {
	Helper()
	Fatal(args ...any)
}

// catchUp brings a follower level with its chain.
func catchUp(t tester, f *follow.Follower) {
	t.Helper()
	if err := f.CatchUp(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func stored(t tester, store *store.DB, id order.ID) *order.Order {
	t.Helper()
	events, err := ledger.Ledger{DB: store}.OfOrder(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	o, _ := order.Fold(events)
	return o
}

func TestFollowerReadsWhatIsNew(t *testing.T) {
	d := newDeal(1, 1, 137)
	give, store := newTestChain(1), openStore(t)
	f := newFollower(store, 1, give, quietly(follow.Options{}))
	give.mine([]told{d.created()})
	catchUp(t, f)
	if o := stored(t, store, d.id); o == nil || o.State != order.StateCreated {
		t.Fatalf("after the creation: %v", o)
	}
	read := give.times("Events")
	catchUp(t, f)
	if again := give.times("Events"); again != read {
		t.Errorf("without a new block events were read %d times more", again-read)
	}
	give.mine([]told{d.claimedUnlock()})
	catchUp(t, f)
	if o := stored(t, store, d.id); o.State != order.StateClaimedUnlock {
		t.Errorf("after the claim: %v", o.State)
	}
	got, newest := f.Basis(), give.blocks[2]
	if want := (order.Lag{Head: 2, Indexed: 2, IndexedTime: newest.Time, Level: got.Level}); got.Lag != want || got.By(time.Now()) > time.Minute {
		t.Errorf("basis %+v, want %+v of block %s", got, want, newest.Hash)
	}
}

func TestFollowerHalvesRangesThatFail(t *testing.T) {
	give, store := newTestChain(1), openStore(t)
	give.mineEmpty(100)
	give.maxRange = 10
	f := newFollower(store, 1, give, quietly(follow.Options{Range: 64}))
	for range 20 {
		if f.CatchUp(t.Context()) == nil {
			break
		}
	}
	if got := f.Basis().Lag; got.Indexed != 100 {
		t.Errorf("read to block %d of 100", got.Indexed)
	}
}

// TestFollowerForgetsDroppedBlocks lets a chain grow and lose blocks at random: the store always equals one that read
// the present chain from its beginning.
func TestFollowerForgetsDroppedBlocks(t *testing.T) {
	store, straight := openStore(t), openStore(t)
	var id chain.ID // of this run: all runs share the stores
	rapid.Check(t, func(rt *rapid.T) {
		id++
		deals := []deal{newDeal(1, id, id), newDeal(2, id, id), newDeal(3, id, id)}
		for i := range deals {
			binary.BigEndian.PutUint64(deals[i].id[:], uint64(id))
		}
		ledger := newTestChain(id)
		followed := newFollower(store, id, ledger, quietly(follow.Options{Range: 3}))
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			if depth := rapid.IntRange(0, 4).Draw(rt, "dropped"); depth > 0 && depth < len(ledger.blocks) {
				ledger.drop(depth)
				for range depth { // a chain never gets shorter
					ledger.mine(draw(rt, deals))
				}
			}
			for range rapid.IntRange(0, 3).Draw(rt, "mined") {
				ledger.mine(draw(rt, deals))
			}
			catchUp(rt, followed)
		}
		catchUp(rt, newFollower(straight, id, ledger, quietly(follow.Options{})))
		for _, d := range deals {
			if diff := cmp.Diff(stored(rt, straight, d.id), stored(rt, store, d.id), compare); diff != "" {
				rt.Fatalf("order %s (-straight +followed):\n%s", d.id, diff)
			}
		}
		if diff := cmp.Diff(lockedIn(rt, straight), lockedIn(rt, store), compare); diff != "" {
			rt.Fatalf("locked (-straight +followed):\n%s", diff)
		}
	})
}

// draw returns random facts for one transaction.
func draw(t *rapid.T, deals []deal) []told {
	d := rapid.SampledFrom(deals).Draw(t, "order")
	facts := []told{d.created(), d.fulfilled(), d.sentUnlock(), d.claimedUnlock()}
	return rapid.SliceOfN(rapid.SampledFrom(facts), 0, 2).Draw(t, "facts")
}

func lockedIn(t tester, store *store.DB) []order.LockedChain {
	t.Helper()
	locks, _, err := ledger.Ledger{DB: store}.Locks(context.Background(), taker)
	if err != nil {
		t.Fatal(err)
	}
	return order.Locked(locks)
}

func TestFollowerWaitsForAChainThatIsBehind(t *testing.T) {
	d, ledger, store := newDeal(1, 1, 137), newTestChain(1), openStore(t)
	f := newFollower(store, 1, ledger, quietly(follow.Options{}))
	ledger.mine()
	ledger.mine([]told{d.created()})
	catchUp(t, f)
	newest := ledger.blocks[2]
	ledger.blocks = ledger.blocks[:2] // as an endpoint that has not seen the newest block
	catchUp(t, f)
	if o := stored(t, store, d.id); o == nil {
		t.Error("the order is forgotten because an endpoint is behind")
	}
	ledger.blocks = append(ledger.blocks, newest)
	catchUp(t, f)
	if got := f.Basis().Lag; got.Indexed != 2 {
		t.Errorf("read to block %d, want 2", got.Indexed)
	}
}

func TestRunFollowsEveryChainUntilItIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDeal(1, 1, 137)
		give, take := newTestChain(1), newTestChain(137)
		give.mine([]told{d.created()})
		take.mine([]told{d.fulfilled()})
		take.fail(errors.New("no route to host"))
		store := openStore(t)
		x := newIndex(store, map[chain.ID]order.Source{1: give, 137: take}, quietly(follow.Options{Chains: evmChains(1, 137)}))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- x.Run(ctx) }()

		<-time.After(time.Minute)
		if up, down := lagOf(x, 1), lagOf(x, 137); up.Indexed != 1 || down.Indexed != 0 {
			t.Errorf("while chain 137 is down: chain 1 %+v, chain 137 %+v", up, down)
		}
		if failures := take.times("Head"); failures < 3 || failures > 12 {
			t.Errorf("a chain that is down was asked %d times in a minute", failures)
		}
		take.fail(nil)
		<-time.After(time.Minute)
		if o := stored(t, store, d.id); o == nil || o.State != order.StateFulfilled {
			t.Errorf("after chain 137 came back: %v", o)
		}
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
}

// TestOrdersOfUnknownChainsAreLoggedOnce has orders with unknown chains from before and after the index starts.
func TestOrdersOfUnknownChainsAreLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		give, store := newTestChain(1), openStore(t)
		give.mine([]told{newDeal(1, 1, 4_000_000_000).created()}, []told{newDeal(2, 1, 4_000_000_000).created()}, []told{newDeal(3, 1, 137).created()})
		catchUp(t, newFollower(store, 1, give, quietly(follow.Options{Chains: chain.Documented()})))
		var log bytes.Buffer
		x := newIndex(store, map[chain.ID]order.Source{1: give}, follow.Options{Chains: chain.Documented(), Logger: slog.New(slog.NewTextHandler(&log, nil))})
		ctx, stop := context.WithCancel(t.Context())
		running := make(chan error)
		go func() { running <- x.Run(ctx) }()
		time.Sleep(time.Minute)
		if diff := cmp.Diff(map[chain.ID]uint64{4_000_000_000: 2}, x.UnknownChains()); diff != "" {
			t.Errorf("unknown chains at the start (-want +got):\n%s", diff)
		}
		give.mine([]told{newDeal(4, 1, 4_000_000_001).created()})
		time.Sleep(time.Hour)
		if diff := cmp.Diff(map[chain.ID]uint64{4_000_000_000: 2, 4_000_000_001: 1}, x.UnknownChains()); diff != "" {
			t.Errorf("unknown chains after another order (-want +got):\n%s", diff)
		}
		stop()
		if err := <-running; err != nil {
			t.Error(err)
		}
		for id, want := range map[string]int{"chain=4000000000": 1, "chain=4000000001": 1, "chain=137": 0} {
			if got := strings.Count(log.String(), id); got != want {
				t.Errorf("%s was logged %d times, want %d: %s", id, got, want, log.String())
			}
		}
	})
}
