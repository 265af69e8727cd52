package solana_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"crossgate/chain"
	"crossgate/order"
	sandbox "crossgate/sandbox/solana"
)

func TestStates(t *testing.T) {
	w := newWorld(t)
	open, paid, back := w.create(sandbox.Way{}), w.create(sandbox.Way{}), w.create(sandbox.Way{})
	w.must(w.PatchGive(w.later(), open.Terms.ID(), maker, 7))
	for i, each := range []sandbox.Order{paid, back} {
		w.must(w.Claim(w.later(), taker, sandbox.Inbound{
			Submission: [32]byte{byte(i + 1)}, From: 1, Cancel: i == 1, Beneficiary: maker.Key, Orders: [][32]byte{each.Terms.ID()},
		}, true))
	}
	got, err := w.chain().States(t.Context(), []order.ID{open.Terms.ID(), {9}, paid.Terms.ID(), back.Terms.ID()})
	given := open.Terms.Give.Amount.Uint64() + 7
	want := []order.StoredState{
		{State: order.StateCreated, Amount: chain.NewAmount(given)},
		{State: order.None},
		{State: order.StateClaimedUnlock},
		{State: order.StateClaimedOrderCancel},
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b chain.Amount) bool { return a == b })); err != nil || diff != "" {
		t.Errorf("States: %v (-want +got):\n%s", err, diff)
	}
}

func TestOriginIsTheFirstOrder(t *testing.T) {
	w := newWorld(t)
	w.Mine(1500)
	first := w.create(sandbox.Way{})
	w.create(sandbox.Way{})
	w.Mine(1500)
	if origin, err := w.chain().Origin(t.Context()); err != nil || origin != w.slotOf(first.Creation) {
		t.Errorf("Origin = %d, %v, want %d", origin, err, w.slotOf(first.Creation))
	}
}
