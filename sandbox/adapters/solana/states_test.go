package solana_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	sandbox "crossgate/sandbox/solana"
	"crossgate/upstream/solana"
)

func TestStates(t *testing.T) {
	w := newWorld(t)
	open, paid, back := w.create(sandbox.Way{}), w.create(sandbox.Way{}), w.create(sandbox.Way{})
	must.Do(w.t, w.PatchGive(w.later(), open.Terms.ID(), maker, 7))
	for i, each := range []sandbox.Order{paid, back} {
		must.Do(w.t, w.Claim(w.later(), taker, sandbox.Inbound{
			Submission: [32]byte{byte(i + 1)}, From: 1, Cancel: i == 1, Beneficiary: maker.Key, Orders: [][32]byte{each.Terms.ID()},
		}, true))
	}
	ids := []order.ID{open.Terms.ID(), {9}, paid.Terms.ID(), back.Terms.ID()}
	given := open.Terms.GiveAmount.Uint64() + 7
	want := []order.StoredState{
		{State: order.StateCreated, Amount: chain.NewAmount(given)},
		{State: order.None},
		{State: order.StateClaimedUnlock},
		{State: order.StateClaimedOrderCancel},
	}
	for name, c := range map[string]*solana.Chain{"one node": w.chain(), "two": w.chain(w)} {
		for i := range want {
			want[i].IsSingle = name == "one node"
		}
		got, err := c.States(t.Context(), ids)
		if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b chain.Amount) bool { return a == b })); err != nil || diff != "" {
			t.Errorf("States of %s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

func TestTakeStates(t *testing.T) {
	w := newWorld(t)
	delivered, unlocked := w.fulfil(sandbox.Way{}, nil), w.fulfil(sandbox.Way{}, nil)
	must.Do(w.t, w.SendUnlock(w.later(), taker, onEVM, unlocked))
	cancelled, sent := w.terms(nil), w.terms(nil)
	must.Do(w.t, w.Cancel(w.later(), cancelled, other))
	must.Do(w.t, w.Cancel(w.later(), sent, other))
	must.Do(w.t, w.SendCancel(w.later(), sent.ID(), other, onEVM))
	got, err := w.chain(w).TakeStates(t.Context(), []order.ID{delivered, unlocked, cancelled.ID(), sent.ID(), {9}})
	want := []order.StoredState{
		{State: order.StateFulfilled}, {State: order.StateSentUnlock}, {State: order.StateOrderCancelled}, {State: order.StateSentOrderCancel}, {},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("TakeStates = %v, %v, want %v", got, err, want)
	}
}

// TestOriginIsNotAfterTheFirstOrder has a cluster whose slots the registry does not know.
func TestOriginIsNotAfterTheFirstOrder(t *testing.T) {
	w := newWorld(t)
	w.Mine(1500)
	first := w.create(sandbox.Way{})
	w.Mine(1500)
	if origin, err := w.chain().Origin(t.Context()); err != nil || origin > w.slotOf(first.Creation) {
		t.Errorf("Origin = %d, %v, want %d at most", origin, err, w.slotOf(first.Creation))
	}
}
