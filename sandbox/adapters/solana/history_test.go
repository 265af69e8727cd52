package solana_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"crossgate/internal/must"
	"crossgate/order"
	sandbox "crossgate/sandbox/solana"
)

func TestHistoryFindsBothSides(t *testing.T) {
	w := newWorld(t)
	out := w.create(sandbox.Way{Forwarded: true})
	out2 := w.create(sandbox.Way{})
	must.Do(w.t, w.PatchGive(w.later(), out.Terms.ID(), maker, 7))
	must.Do(w.t, w.Claim(w.later(), taker, sandbox.Inbound{
		Submission: [32]byte{1}, From: 1, Beneficiary: taker.Key, Orders: [][32]byte{out.Terms.ID(), out2.Terms.ID()},
	}, false))
	withCall := w.terms([]byte("external call"))
	calling, plain := w.deliver(sandbox.Way{}, withCall), w.fulfil(sandbox.Way{}, nil)
	must.Do(w.t, w.ExecuteCall(w.later(), withCall, taker, true))
	must.Do(w.t, w.SendUnlock(w.later(), taker, onEVM, plain, calling))
	cancelled := w.terms(nil)
	must.Do(w.t, w.Cancel(w.later(), cancelled, other))
	must.Do(w.t, w.SendCancel(w.later(), cancelled.ID(), other, onEVM))

	for _, test := range []struct {
		name  string
		id    order.ID
		side  order.Side
		want  []string
		trips int64
	}{
		{"given", out.Terms.ID(), order.GiveSide, []string{"Created", "GiveIncreased", "Claimed 1"}, 2},
		{"taken", calling, order.TakeSide, []string{"Fulfilled", "ExternalCall 2", "Sent 1"}, 2},
		{"cancelled", cancelled.ID(), order.TakeSide, []string{"Cancelled", "Sent 2"}, 2},
		{"unknown", order.ID{1}, order.TakeSide, nil, 1},
	} {
		var read order.Evidence
		var err error
		c := w.chain()
		trips := w.tripsOf(func() { read, err = c.History(t.Context(), test.id, test.side, 0) })
		events := read.Events
		if diff := cmp.Diff(expect(test.id, test.want...), facts(events)); err != nil || diff != "" {
			t.Errorf("History of an order %s: %v (-want +got):\n%s", test.name, err, diff)
		}
		if trips != test.trips {
			t.Errorf("History of an order %s took %d round trips, want %d", test.name, trips, test.trips)
		}
	}
}

func TestHistoryPassesOverWhatIsOlder(t *testing.T) {
	w := newWorld(t)
	id := w.fulfil(sandbox.Way{}, nil)
	since := uint64(w.later().Unix())
	must.Do(w.t, w.SendUnlock(w.later(), taker, onEVM, id))
	read, err := w.chain().History(t.Context(), id, order.TakeSide, since)
	events := read.Events
	if diff := cmp.Diff(expect(id, "Sent 1"), facts(events)); err != nil || diff != "" {
		t.Errorf("History: %v (-want +got):\n%s", err, diff)
	}
}
