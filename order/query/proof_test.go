package query

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/audit"
	"crossgate/order/follow"
	"crossgate/order/ledger"
	"crossgate/order/proof"
	"crossgate/store"
)

// forgetful is a chain whose first reading of some blocks loses their events, and that can read them a second time.
type forgetful struct {
	*testChain
	lost     map[uint64]bool // blocks whose events Events leaves out
	fails    error           // returned by Events instead
	verified []ledger.Range
}

func (f *forgetful) Events(ctx context.Context, from, to uint64) ([]order.Event, error) {
	if f.fails != nil {
		return nil, f.fails
	}
	events, err := f.testChain.Events(ctx, from, to)
	return slices.DeleteFunc(events, func(e order.Event) bool { return f.lost[e.At.Block] }), err
}

func (f *forgetful) Verify(ctx context.Context, from, to uint64, first []order.Event) (order.Evidence, error) {
	f.verified = append(f.verified, ledger.Range{From: from, To: to})
	events, err := f.testChain.Events(ctx, from, to)
	v := order.Evidence{Events: events, Standing: order.Intrinsic}
	if len(events) != len(first) {
		v.Wrong = []string{"forgetful"}
	}
	return v, err
}

// following returns an index of one chain, whose follower the test calls, in a new store or the given one.
func following(t *testing.T, source order.Source, db ...*store.DB) *Index {
	t.Helper()
	return newIndex(append(db, openStore(t))[0], map[chain.ID]order.Source{1: source}, quietly(follow.Options{
		Chains: evmChains(1),
		Pace:   follow.Pace{Asked: time.Hour}, // second readings may take half of it, however slow the machine is
	}))
}

func TestASecondReadingCorrectsTheStore(t *testing.T) {
	chain1, d := &forgetful{testChain: newTestChain(1), lost: map[uint64]bool{2: true}}, newDeal(1, 1, 1)
	chain1.mine([]told{d.created()})
	chain1.mine([]told{d.fulfilled()})
	chain1.finality = order.TipRange - 1 // so that only one endpoint has confirmed the final blocks
	x := following(t, chain1)
	var changes []order.Change
	x.Followers[0].Observer = observed{changed: func(c []order.Change) { changes = append(changes, c...) }}
	followAll(t, x)
	if got := lockedOrders(t, x); got != 0 {
		t.Fatalf("%d orders are locked before the second reading, want 0: this test needs a loss", got)
	}
	changes = nil
	chain1.mineEmpty(40)
	followAll(t, x)
	if got := lockedOrders(t, x); got != 1 {
		t.Errorf("%d orders are locked, want the one that the first reading missed", got)
	}
	if len(changes) != 1 || changes[0].Order != d.id || changes[0].Taker != taker {
		t.Errorf("reported changes %+v, want the order", changes)
	}
	if got := x.Corrections(); len(got) != 1 || got[1] != 1 {
		t.Errorf("corrections by chain = %v, want the event that the first reading missed", got)
	}
	if got, word := x.Basis().Chains[0].Proven, uint64(len(chain1.blocks)-1-order.TipRange); got < word {
		t.Errorf("proven up to block %d, want %d, the newest that was one endpoint's word, or later", got, word)
	}
}

// TestAChainIsReadTwiceAtMost counts the second readings of blocks that arrive one by one.
func TestAChainIsReadTwiceAtMost(t *testing.T) {
	chain1 := &forgetful{testChain: newTestChain(1)}
	x := following(t, chain1)
	followAll(t, x)
	for range 1100 {
		chain1.mine()
		followAll(t, x)
	}
	var read uint64
	for _, r := range chain1.verified {
		read += r.To - r.From + 1
	}
	if len(chain1.verified) > 2 || read > 1100 {
		t.Errorf("second readings of 1100 blocks: %v, want one for each thousand, and one at the start", chain1.verified)
	}
}

// TestProofHoldsNoMoreEventsThanItMay proves blocks that have 1,000 events each.
func TestProofHoldsNoMoreEventsThanItMay(t *testing.T) {
	chain1 := &forgetful{testChain: newTestChain(1)}
	chain1.finality = 0
	x := following(t, chain1)
	followAll(t, x)
	for block := range 6 {
		var created []told
		for number := range 1000 {
			d := newDeal(byte(number), 1, 1)
			d.id[0], d.id[1] = byte(block+1), byte(number>>8)
			created = append(created, d.created())
		}
		chain1.mine(created)
	}
	chain1.mineEmpty(1000)
	followAll(t, x)
	var blocks uint64
	for _, r := range chain1.verified {
		held := must.Get(x.Ledger().EventsBetween(t.Context(), 1, r))(t)
		if blocks += r.To - r.From + 1; len(held) > ledger.EventsAtOnce {
			t.Errorf("blocks %d to %d were proven at once, with %d events", r.From, r.To, len(held))
		}
	}
	if blocks < 6 {
		t.Errorf("proven: %v, want the 6 blocks with events, too", chain1.verified)
	}
}

func TestAnEndpointFoundWrongHasItsBlocksProvenAgain(t *testing.T) {
	chain1, d := &forgetful{testChain: newTestChain(1), lost: map[uint64]bool{}}, newDeal(1, 1, 1)
	x := following(t, chain1)
	chain1.mineEmpty(100)
	followAll(t, x)
	proven := len(chain1.verified)
	chain1.lost[uint64(len(chain1.blocks))] = true
	chain1.mine([]told{d.created(), d.fulfilled()})
	chain1.mineEmpty(1100)
	followAll(t, x)
	again := chain1.verified[proven:]
	if !slices.ContainsFunc(again, func(r ledger.Range) bool { return r.From < 90 }) {
		t.Errorf("after an endpoint was found wrong blocks %v were proven, want those before as well", again)
	}
	if got := lockedOrders(t, x); got != 1 {
		t.Errorf("%d orders are locked, want 1", got)
	}
}

// unsure is a chain on which a fourth of the second readings are one endpoint's word.
type unsure struct {
	*testChain
	random   *rand.Rand
	readings int
}

func (u *unsure) Verify(ctx context.Context, from, to uint64, _ []order.Event) (order.Evidence, error) {
	u.readings++
	standing := order.Corroborated
	if u.random.IntN(4) == 0 {
		standing = order.Single
	}
	events, err := u.testChain.Events(ctx, from, to)
	return order.Evidence{Events: events, Standing: standing}, err
}

// TestAVoiceThatFailsAtTimesIsHeardSoon: unconfirmed blocks are read again soon while that makes progress.
func TestAVoiceThatFailsAtTimesIsHeardSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		chain1 := &unsure{testChain: newTestChain(1), random: rand.New(rand.NewPCG(1, 2))}
		chain1.mineEmpty(600)
		x := newIndex(openStore(t), map[chain.ID]order.Source{1: chain1}, quietly(follow.Options{Chains: evmChains(1), Range: 10}))
		ctx, stop := context.WithCancel(t.Context())
		running := make(chan error)
		go func() { running <- x.Run(ctx) }()
		time.Sleep(2 * time.Minute)
		if of := x.Basis().Chains[0]; of.Single || of.Proven < 500 {
			t.Errorf("after %d readings of 600 blocks the chain is proven to %d, one endpoint's word: %t", chain1.readings, of.Proven, of.Single)
		}
		stop()
		must.Do(t, <-running)
	})
}

// TestReorgsKeepWhatStands makes reorgs of some depths (with CROSSGATE_REORGS=all, as in make soak, of all) while the
// new blocks cannot be listed, with and without the dropped events in a new block: no answer lacks an order that still
// stands, and none has a dropped one; there may be no answer.
func TestReorgsKeepWhatStands(t *testing.T) {
	depths := []int{1, 2, 7, 20}
	if os.Getenv("CROSSGATE_REORGS") == "all" {
		depths = nil
		for depth := range 20 {
			depths = append(depths, depth+1)
		}
	}
	for _, depth := range depths {
		for _, isBack := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) { testReorgKeepsWhatStands(t, depth, isBack) })
		}
	}
}

func testReorgKeepsWhatStands(t *testing.T, depth int, isBack bool) {
	chain1 := &forgetful{testChain: newTestChain(1)}
	chain1.finality = 30
	standing, dropped := newDeal(1, 1, 1), newDeal(2, 1, 1)
	chain1.mine([]told{standing.created(), standing.fulfilled()})
	chain1.mineEmpty(60)
	x := following(t, chain1)
	followAll(t, x)
	chain1.mineEmpty(depth - 1)
	creations := chain1.mine([]told{dropped.created(), dropped.fulfilled()})
	followAll(t, x)
	chain1.drop(depth)
	want := 1
	if isBack {
		chain1.mine([]told{dropped.created(), dropped.fulfilled()})
		want = 2
	}
	chain1.mineEmpty(depth + 1)
	chain1.fails = errors.New("logs are not to be had")
	for range 3 {
		if err := x.Followers[0].CatchUp(t.Context()); err == nil {
			t.Fatal("the chain was followed without logs")
		}
		_, err := x.ByID(t.Context(), standing.id)
		if err != nil {
			t.Errorf("reorg of %d: the order that stands: %v", depth, err)
		}
		if _, _, err := x.Find(t.Context(), creations[0]); err == nil {
			t.Errorf("reorg of %d: an order is answered whose block was dropped", depth)
		}
		if found, err := x.ByID(t.Context(), dropped.id); err == nil && chain1.isDropped(found.Order) {
			t.Errorf("reorg of %d: order %s is answered from a block that was dropped", depth, dropped.id)
		}
		if _, _, err := x.Locked(t.Context(), taker); err == nil {
			t.Errorf("reorg of %d: locked orders are answered in doubt", depth)
		}
	}
	chain1.fails = nil
	followAll(t, x)
	if got := lockedOrders(t, x); got != want {
		t.Errorf("reorg of %d: %d orders are locked, want %d, those that stand", depth, got, want)
	}
	if found, err := x.ByID(t.Context(), dropped.id); (err == nil) != isBack || isBack && chain1.isDropped(found.Order) {
		t.Errorf("reorg of %d: afterwards the order that was dropped is %+v, %v", depth, found, err)
	}
	if from := x.Basis().Chains[0]; from.Indexed != uint64(len(chain1.blocks)-1) {
		t.Errorf("reorg of %d: read up to block %d", depth, from.Indexed)
	}
}

// TestAReorgAfterAQuietTailStopsAtTheFinalBlock: final blocks are not read again.
func TestAReorgAfterAQuietTailStopsAtTheFinalBlock(t *testing.T) {
	chain1 := &forgetful{testChain: newTestChain(1)}
	chain1.mineEmpty(100)
	x := following(t, chain1)
	followAll(t, x)
	chain1.drop(1)
	chain1.mine()
	chain1.mine()
	before := chain1.times("Events")
	head, _ := chain1.Head(t.Context())
	position, _, err := x.store.Checkpoint(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	fork, err := x.Followers[0].Settle(t.Context(), position, head)
	if err != nil || fork < 95 {
		t.Errorf("a reorg of one block goes back to block %d, %v, want 95 or later, which is final", fork, err)
	}
	followAll(t, x)
	if got := chain1.times("Events") - before; got > 3 {
		t.Errorf("%d searches for events after it", got)
	}
}

func TestAChainBehindEverythingThatWasReadIsInDoubt(t *testing.T) {
	chain1 := newTestChain(1)
	chain1.mineEmpty(100)
	x := following(t, chain1)
	followAll(t, x)
	chain1.drop(60)
	if err := x.Followers[0].CatchUp(t.Context()); err == nil {
		t.Error("a chain that lost final blocks is followed as if nothing had happened")
	}
	if !x.doubted()[1] {
		t.Error("the chain is not in doubt")
	}
}

// unreadable is a chain with one block that cannot be read.
type unreadable struct {
	*testChain
	block uint64 // zero: none
}

func (u *unreadable) Events(ctx context.Context, from, to uint64) ([]order.Event, error) {
	if u.block >= from && u.block <= to && u.block != 0 {
		return nil, &order.UnreadableError{Block: u.block, Err: errors.New("receipt whose logs do not match its bloom filter")}
	}
	return u.testChain.Events(ctx, from, to)
}

// unreadables is a chain with two blocks that cannot be read. A search reports one or the other in turn.
type unreadables struct {
	*testChain
	both [2]uint64
	told int
}

func (u *unreadables) Events(ctx context.Context, from, to uint64) ([]order.Event, error) {
	u.told++
	for i := range u.both {
		if block := u.both[(u.told+i)%len(u.both)]; block >= from && block <= to {
			return nil, &order.UnreadableError{Block: block, Err: errors.New("node has a transaction not in its block")}
		}
	}
	return u.testChain.Events(ctx, from, to)
}

// TestBlocksThatCannotBeReadByTurnsStopNothing has two such blocks, also if following begins with the first.
func TestBlocksThatCannotBeReadByTurnsStopNothing(t *testing.T) {
	for _, both := range [][2]uint64{{2, 3}, {0, 3}} {
		chain1 := &unreadables{testChain: newTestChain(1), both: both}
		later := newDeal(1, 1, 1)
		chain1.mineEmpty(3)
		chain1.mine([]told{later.created(), later.fulfilled()})
		x := following(t, chain1)
		for range 2 * proof.QuarantineAfter {
			if err := x.Followers[0].CatchUp(t.Context()); err != nil && !errors.As(err, new(*order.UnreadableError)) {
				t.Fatal(err)
			}
		}
		left, err := x.store.Quarantined(t.Context(), 1, ledger.Range{From: 0, To: 10})
		if err != nil || len(left) != 2 || left[0].Number != both[0] || left[1].Number != both[1] {
			t.Errorf("quarantined are %+v, %v, want blocks %v", left, err, both)
		}
		if got := lockedOrders(t, x); got != 1 {
			t.Errorf("%d orders are locked, want the one of the block after them", got)
		}
	}
}

// stuck is a chain of which one block fails for another reason than its content.
type stuck struct {
	*unreadables
	block uint64
}

func (s *stuck) Events(ctx context.Context, from, to uint64) ([]order.Event, error) {
	if s.block >= from && s.block <= to && s.block != 0 {
		return nil, errors.New("no answer in time")
	}
	return s.unreadables.Events(ctx, from, to)
}

// TestAQuarantinedBlockThatFailsHoldsUpNoOther: the next retry begins behind it.
func TestAQuarantinedBlockThatFailsHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		chain1 := &stuck{unreadables: &unreadables{testChain: newTestChain(1), both: [2]uint64{2, 3}}}
		chain1.mineEmpty(4)
		x := following(t, chain1)
		for range 2 * proof.QuarantineAfter {
			if err := x.Followers[0].CatchUp(t.Context()); err != nil && !errors.As(err, new(*order.UnreadableError)) {
				t.Fatal(err)
			}
		}
		checkQuarantined(t, x, order.QuarantinedBlocks{Count: 2, First: 2})
		chain1.both, chain1.block = [2]uint64{99, 99}, 2
		for range 2 {
			<-time.After(proof.QuarantineRetry)
			_ = x.Followers[0].CatchUp(t.Context())
		}
		checkQuarantined(t, x, order.QuarantinedBlocks{Count: 1, First: 2})
	})
}

func TestABlockThatCannotBeReadStopsNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, db *store.DB) {
		chain1, held, later := &unreadable{testChain: newTestChain(1)}, newDeal(1, 1, 1), newDeal(2, 1, 1)
		chain1.mine()
		chain1.mine([]told{held.created(), held.fulfilled()})
		chain1.block = 2
		chain1.mine([]told{later.created(), later.fulfilled()})
		x := following(t, chain1, db)
		for range proof.QuarantineAfter - 1 {
			if err := x.Followers[0].CatchUp(t.Context()); !errors.As(err, new(*order.UnreadableError)) {
				t.Fatalf("catchUp: %v, want that block 2 cannot be read", err)
			}
		}
		followAll(t, x)
		if got := lockedOrders(t, x); got != 1 {
			t.Errorf("%d orders are locked, want the one of the block after", got)
		}
		left, err := x.store.Quarantined(t.Context(), 1, ledger.Range{From: 0, To: 10})
		if err != nil || len(left) != 1 || left[0].Number != 2 || left[0].Reason == "" || left[0].Since == 0 {
			t.Errorf("quarantined are %+v, %v, want block 2 with a reason and a time", left, err)
		}
		checkQuarantined(t, x, order.QuarantinedBlocks{Count: 1, First: 2})
		beside := following(t, chain1, db)
		beside.Followers[0].Watch(t.Context())
		checkQuarantined(t, beside, order.QuarantinedBlocks{Count: 1, First: 2})
		status, err := audit.Of(x.Chains).Status(t.Context())
		if err != nil || !slices.Equal(status[0].Quarantined, left) || status[0].From.Number != 0 {
			t.Errorf("status %+v, %v, want block 2 quarantined and nothing before block 0", status, err)
		}
		chain1.block = 0
		followAll(t, x)
		if got := lockedOrders(t, x); got != 1 {
			t.Errorf("%d orders are locked before the block is asked for again", got)
		}
		x = beside // which has not asked for it
		followAll(t, x)
		if got := lockedOrders(t, x); got != 2 {
			t.Errorf("%d orders are locked, want both", got)
		}
		if left, err := x.store.Quarantined(t.Context(), 1, ledger.Range{From: 0, To: 10}); err != nil || len(left) != 0 {
			t.Errorf("quarantined are still %+v, %v", left, err)
		}
		checkQuarantined(t, x, order.QuarantinedBlocks{})
		must.Get(x.store.Write(t.Context(), store.Lease{}, func(tx *ledger.Tx) error { return tx.Quarantine(t.Context(), 1, left) }))(t)
		slower := following(t, &overtaken{chain1, x}, db)
		if _, err := slower.Followers[0].RetryQuarantined(t.Context()); err != nil {
			t.Errorf("a block that another process has read meanwhile: %v", err)
		}
	})
}

// overtaken is a chain whose second block another process reads faster.
type overtaken struct {
	*unreadable
	by *Index
}

func (o *overtaken) Events(ctx context.Context, from, to uint64) ([]order.Event, error) {
	_, err := o.by.store.Write(ctx, store.Lease{}, func(tx *ledger.Tx) error { return tx.EndQuarantine(ctx, 1, 2) })
	return nil, err
}

// checkQuarantined compares the quarantined blocks that answers report.
func checkQuarantined(t *testing.T, x *Index, want order.QuarantinedBlocks) {
	t.Helper()
	if got := x.Basis().Chains[0].Quarantined; got != want {
		t.Errorf("answers tell of quarantined blocks %+v, want %+v", got, want)
	}
}

// voiced is a chain whose second readings have a given standing.
type voiced struct {
	*testChain
	standing order.Standing
}

func (v *voiced) Verify(ctx context.Context, from, to uint64, _ []order.Event) (order.Evidence, error) {
	events, err := v.testChain.Events(ctx, from, to)
	return order.Evidence{Events: events, Standing: v.standing}, err
}

// TestHistoryThatIsOneEndpointsWordIsNotProven reads history that a second endpoint confirms, and some that none does.
func TestHistoryThatIsOneEndpointsWordIsNotProven(t *testing.T) {
	for _, standing := range []order.Standing{order.Single, order.Corroborated} {
		l, _ := oldLedger(205)
		source := &voiced{l, order.Corroborated}
		x := newIndex(openStore(t), map[chain.ID]order.Source{1: source}, quietly(follow.Options{
			Chains: evmChains(1), Lookback: 20, Pace: follow.Pace{Asked: time.Hour},
		}))
		followAll(t, x)
		source.standing = standing
		must.Do(t, audit.Of(x.Chains).Backfill(t.Context(), func(audit.Progress) {}))
		source.standing = order.Corroborated
		l.mine()
		followAll(t, x)
		if got := x.Basis().Chains[0].Proven; (got > 0) != (standing > order.Single) {
			t.Errorf("history of standing %d: proven up to block %d", standing, got)
		}
	}
}

// TestOneEndpointsWordEndsWithTheBlocksThatItIsAbout lets an operator withdraw those blocks.
func TestOneEndpointsWordEndsWithTheBlocksThatItIsAbout(t *testing.T) {
	source := &voiced{newTestChain(1), order.Corroborated}
	x := following(t, source)
	source.mineEmpty(700)
	followAll(t, x)
	source.standing = order.Single
	source.mineEmpty(700)
	followAll(t, x)
	if of := x.Basis().Chains[0]; !of.Single {
		t.Fatalf("proven to %d, by two: this test needs one endpoint's word", of.Proven)
	}
	must.Get(audit.Of(x.Chains).Withdraw(t.Context(), 1, 300))(t)
	source.standing = order.Corroborated
	position, _, err := x.store.Checkpoint(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	head := must.Get(source.Head(t.Context()))(t)
	f := x.Followers[0]
	position = must.Get(f.ReadOn(t.Context(), position, position.Block, head))(t)
	if came, isDue, err := f.ProveNext(t.Context(), position, head, proof.AtLeisure, 2000); err != nil || !isDue || came.SingleFrom > 0 {
		t.Errorf("proven before block %d, one endpoint's word from %d on: %t, %v", came.End, came.SingleFrom, isDue, err)
	}
}
