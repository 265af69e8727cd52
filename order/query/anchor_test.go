package query

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/audit"
	"crossgate/order/follow"
	"crossgate/order/ledger"
	"crossgate/store"
)

// endpoints is a chain with several endpoints, each a ledger: the first one answers, and Testify asks each by itself.
type endpoints struct {
	*testChain
	others    []*testChain
	anchored  []order.Block
	heldTo    order.Block // the block that all must have before Testify
	suspended error
}

func (e *endpoints) Testify(ctx context.Context, number uint64, most int) map[string]order.Block {
	told := map[string]order.Block{}
	for i, l := range append([]*testChain{e.testChain}, e.others...) {
		held, err := l.Block(ctx, e.heldTo.Number)
		isOut := most > 2 && !e.heldTo.Hash.IsAbsent() && (err != nil || held.Hash != e.heldTo.Hash)
		if block, err := l.Block(ctx, number); err == nil && len(told) < most && !isOut {
			told[fmt.Sprint("endpoint ", i)] = block
		}
	}
	return told
}

func (e *endpoints) Anchor(b order.Block, atOnce bool) {
	e.anchored = append(e.anchored, b)
	if atOnce {
		e.heldTo = b
	}
}

func (e *endpoints) Suspend(cause error) { e.suspended = cause }

func (e *endpoints) Head(ctx context.Context) (order.Head, error) {
	if e.suspended != nil {
		return order.Head{}, e.suspended
	}
	return e.testChain.Head(ctx)
}

func anchorsOf(t *testing.T, s ledger.Ledger) (numbers []uint64) {
	t.Helper()
	for before := uint64(1<<63 - 1); ; {
		b, found, err := s.AnchorBefore(t.Context(), 1, before)
		if err != nil {
			t.Fatal(err)
		}
		if !found {
			return numbers
		}
		numbers, before = append(numbers, b.Number), b.Number
	}
}

// On a chain that calls its newest block finalized, a reorg of one block withdraws that block.
func TestReorgOfAChainThatCallsItsNewestBlockFinalWithdrawsOneBlock(t *testing.T) {
	for name, source := range map[string]func(*testChain) order.Source{
		"with endpoints that are asked alone": func(l *testChain) order.Source { return &endpoints{testChain: l} },
		"without":                             func(l *testChain) order.Source { return l },
	} {
		t.Run(name, func(t *testing.T) {
			l := newTestChain(1)
			l.finality = 0
			for range 20 {
				l.mine([]told{newDeal(byte(len(l.blocks)), 1, 1).created()})
			}
			f := newFollower(openStore(t), 1, source(l), quietly(follow.Options{}))
			catchUp(t, f)
			for range 5 {
				l.mine([]told{newDeal(byte(len(l.blocks)), 1, 1).created()})
				catchUp(t, f)
			}
			l.drop(1)
			l.mine()
			head := must.Get(l.Head(t.Context()))(t)
			position, _, err := f.Ledger.Checkpoint(t.Context(), 1)
			if err != nil {
				t.Fatal(err)
			}
			if fork, err := f.Settle(t.Context(), position, head); err != nil || fork != position.Block-1 {
				t.Errorf("a reorg of block %d goes back to %d, %v", position.Block, fork, err)
			}
		})
	}
}

// settled returns a followed chain of 60 blocks, with an order in block 5 that a block in its place would lack.
func settled(t *testing.T, others int) (*endpoints, *Index) {
	t.Helper()
	e := &endpoints{testChain: newTestChain(1)}
	for range others {
		e.others = append(e.others, newTestChain(1))
	}
	for _, l := range append([]*testChain{e.testChain}, e.others...) {
		for number := 1; number < 60; number++ {
			if number == 5 {
				l.mine([]told{newDeal(1, 1, 1).created()})
			} else {
				l.mine()
			}
		}
	}
	x := newIndex(openStore(t), map[chain.ID]order.Source{1: e}, quietly(follow.Options{Chains: evmChains(1)}))
	followAll(t, x)
	return e, x
}

// branchOff moves a ledger to another branch, which replaces the blocks from a number on.
func branchOff(l *testChain, from uint64) {
	count := len(l.blocks) - int(from)
	l.drop(count)
	l.mineEmpty(count + 1)
}

func isKnown(t *testing.T, x *Index) bool {
	t.Helper()
	events := must.Get(x.store.OfOrder(t.Context(), newDeal(1, 1, 1).id))(t)
	return len(events) > 0
}

// A single endpoint withdraws nothing final, whatever it says: the chain stops until an operator decides.
func TestOneEndpointWithdrawsNothingFinal(t *testing.T) {
	e, x := settled(t, 0)
	f := x.Followers[0]
	branchOff(e.testChain, 3)
	for range 3 {
		if err := f.CatchUp(t.Context()); err == nil || !strings.Contains(err.Error(), "contradict") {
			t.Fatalf("catchUp() = %v, want a contradiction", err)
		}
	}
	if !isKnown(t, x) || e.suspended == nil || f.Basis().Stopped == "" {
		t.Fatalf("order known: %t, suspended: %v, stopped: %q", isKnown(t, x), e.suspended, f.Basis().Stopped)
	}
	if _, _, err := x.Locked(t.Context(), taker); !errors.As(err, new(*UnreachableError)) {
		t.Errorf("Locked() = %v, want the chain to be told", err)
	}
	if _, err := x.ByID(t.Context(), order.ID{31: 9}); !errors.As(err, new(*UnreachableError)) {
		t.Errorf("ByID() of an unknown order = %v, want the chain to be told", err)
	}
	came, err := audit.Of(x.Chains).Withdraw(t.Context(), 1, 3)
	if err != nil || came.Was == 0 || came.Orders != 1 {
		t.Fatalf("Withdraw() = %+v, %v", came, err)
	}
	e.suspended = errors.New("still") // if only the follower decided
	must.Do(t, f.CatchUp(t.Context()))
	if isKnown(t, x) || e.suspended != nil || f.Basis().Stopped != "" {
		t.Errorf("order known: %t, suspended: %v, stopped: %q, after the operator's decision", isKnown(t, x), e.suspended, f.Basis().Stopped)
	}
}

// A single endpoint does not withdraw blocks that were final after the newest anchor, not even after a restart and with
// an older final block than before.
func TestFinalBlocksAreWithdrawnOnlyByAgreement(t *testing.T) {
	onBoth(t, func(t *testing.T, db *store.DB) {
		e := &endpoints{testChain: newTestChain(1)}
		e.mineEmpty(60)
		f := newFollower(db, 1, e, quietly(follow.Options{}))
		for range 2 {
			catchUp(t, f)
			e.mineEmpty(order.TipRange) // read with evidence, so that no anchor is among them
		}
		catchUp(t, f)
		branchOff(e.testChain, 60)
		e.finality = 10
		restarted := newFollower(db, 1, e, quietly(follow.Options{}))
		for name, f := range map[string]*follow.Follower{"running": f, "restarted": restarted} {
			if err := f.CatchUp(t.Context()); err == nil || !strings.Contains(err.Error(), "contradict") {
				t.Errorf("%s: catchUp() = %v after block 61 was final and is replaced, want a contradiction", name, err)
			}
			e.suspended = nil
		}
	})
}

// boastful is a chain whose head is ahead of its blocks.
type boastful struct {
	*testChain
	by uint64
}

func (b *boastful) Head(ctx context.Context) (order.Head, error) {
	head, err := b.testChain.Head(ctx)
	head.Latest.Number, head.Finalized = head.Latest.Number+b.by, head.Finalized+b.by
	return head, err
}

func TestHeadAheadOfTheBlocksDoesNotStopTheChain(t *testing.T) {
	b := &boastful{testChain: newTestChain(1)}
	b.mineEmpty(20)
	f := newFollower(openStore(t), 1, b, quietly(follow.Options{Range: 2}))
	catchUp(t, f)
	b.mineEmpty(6)
	b.by = 1000
	if err := f.CatchUp(t.Context()); err == nil {
		t.Fatal("blocks that do not exist are read")
	}
	b.by = 0
	if err := f.CatchUp(t.Context()); err != nil {
		t.Errorf("catchUp() = %v with a head of the chain, want no error", err)
	}
}

// A head of another branch, which endpoints no longer have, changes nothing, and the chain continues by itself.
func TestHeadOfAnotherBranchIsPassedOver(t *testing.T) {
	e, x := settled(t, 2)
	honest := e.testChain
	e.testChain = newTestChain(1)
	e.forks = 7
	e.testChain.mineEmpty(61)
	if err := x.Followers[0].CatchUp(t.Context()); err == nil {
		t.Fatal("a head of another branch is followed")
	}
	if !isKnown(t, x) || e.suspended != nil {
		t.Errorf("order known: %t, suspended: %v, of a branch that two of three endpoints have", isKnown(t, x), e.suspended)
	}
	e.testChain = honest
	must.Do(t, x.Followers[0].CatchUp(t.Context()))
}

// If most endpoints report that a final block was dropped, the chain goes back to the last anchor before it.
func TestReorgBelowWhatIsFinalGoesBackToTheAnchor(t *testing.T) {
	e, x := settled(t, 1)
	f := x.Followers[0]
	for _, l := range append([]*testChain{e.testChain}, e.others...) {
		l.mineEmpty(40)
	}
	catchUp(t, f)
	for _, l := range append([]*testChain{e.testChain}, e.others...) {
		branchOff(l, 80)
	}
	catchUp(t, f)
	position, _, err := f.Ledger.Checkpoint(t.Context(), 1)
	if err != nil || position.Block != 100 || position.Reorgs == 0 || !isKnown(t, x) {
		t.Errorf("position %+v, %v; order known: %t", position, err, isKnown(t, x))
	}
	if got := anchorsOf(t, f.Ledger); len(got) != 1 || got[0] != 54 {
		t.Errorf("anchors at %d, want 54", got)
	}
}

// Endpoints that disagree from the start stop the chain until one of them is gone.
func TestEndpointsThatDisagreeStopTheChain(t *testing.T) {
	e := &endpoints{testChain: newTestChain(1), others: []*testChain{newTestChain(1)}}
	e.others[0].forks = 7
	for range 30 {
		e.testChain.mine()
		e.others[0].mine()
	}
	x := newIndex(openStore(t), map[chain.ID]order.Source{1: e}, quietly(follow.Options{Chains: evmChains(1)}))
	f := x.Followers[0]
	for range 2 {
		if err := f.CatchUp(t.Context()); err == nil || !strings.Contains(err.Error(), "endpoint 0 has") {
			t.Errorf("catchUp() = %v, want to hear what each endpoint has", err)
		}
	}
	e.others = nil // cordoned
	catchUp(t, f)
	if got := anchorsOf(t, f.Ledger); len(got) != 1 || got[0] != 25 || f.Basis().Stopped != "" {
		t.Errorf("anchors at %d, stopped: %q", got, f.Basis().Stopped)
	}
}

// An endpoint that switched branches after it had proven the anchor does not stop the chain.
func TestEndpointsAreHeldToTheAnchorBeforeTheyContradict(t *testing.T) {
	e := &endpoints{testChain: newTestChain(1), others: []*testChain{newTestChain(1)}}
	both := []*testChain{e.testChain, e.others[0]}
	for range 60 {
		for _, l := range both {
			l.mine()
		}
	}
	f := following(t, e).Followers[0]
	catchUp(t, f)
	for _, l := range both {
		l.mineEmpty(2000)
	}
	branchOff(e.others[0], 3)
	catchUp(t, f)
	if e.suspended != nil || e.heldTo.Number != 55 {
		t.Errorf("suspended: %v; held to block %d before what endpoints contradict counts", e.suspended, e.heldTo.Number)
	}
}

func TestAnchorsAreAThousandBlocksApart(t *testing.T) {
	onBoth(t, func(t *testing.T, db *store.DB) {
		l := ledger.Ledger{DB: db}
		for _, number := range []uint64{100, 600, 1200, 1300, 2500, 1250, 700, 9000, 4000, 4100} {
			b := order.Block{Number: number, Hash: chain.Hash{byte(number), 1}}
			must.Get(l.Write(t.Context(), store.Lease{}, func(tx *ledger.Tx) error { return tx.Anchor(t.Context(), 1, b) }))(t)
		}
		if got, want := fmt.Sprint(anchorsOf(t, l)), "[9000 4000 2500 1200 100]"; got != want {
			t.Errorf("anchors at %s, want %s", got, want)
		}
	})
}
