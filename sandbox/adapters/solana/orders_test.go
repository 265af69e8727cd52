package solana_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/onchain"
	sandbox "crossgate/sandbox/solana"
)

func TestEventsInReadsCreations(t *testing.T) {
	for name, way := range map[string]sandbox.Way{
		"legacy": {}, "by another program": {Forwarded: true}, "with lookup tables": {Versioned: true, Forwarded: true, Priority: 1000},
	} {
		w := newWorld(t)
		made := w.create(way)
		c := w.chain()
		var read order.Evidence
		var err error
		trips := w.tripsOf(func() { read, err = c.EventsIn(t.Context(), txOf(made.Creation)) })
		events := read.Events
		if err != nil || len(events) != 1 || trips != 2 {
			t.Errorf("%s: EventsIn = %+v, %v in %d round trips, want one event in two", name, events, err, trips)
			continue
		}
		created, ok := events[0].Fact.(order.Created)
		if !ok || events[0].Order != made.Terms.ID() || onchain.ID(created.Terms) != made.Terms.ID() {
			t.Errorf("%s: EventsIn = %+v, want the creation of order %x", name, events[0], made.Terms.ID())
		}
		if created.ReferralCode != 30195 || string(created.Metadata) != "metadata" || created.Affiliate == nil ||
			created.FixFee != chain.NewAmount(15_000_000) || created.PercentFee != chain.NewAmount(400) {
			t.Errorf("%s: creation %+v", name, created)
		}
		at := events[0].At
		head, err := c.Head(t.Context())
		if err != nil || at.Block != head.Latest.Number || at.BlockHash != head.Latest.Hash || at.Time != head.Latest.Time ||
			at.Tx != txOf(made.Creation) || at.Initiator != chain.NewAddress(maker.Key[:]) {
			t.Errorf("%s: at %+v, head %+v, %v", name, at, head, err)
		}
	}
}

func TestEventsInOfOtherTransactions(t *testing.T) {
	w := newWorld(t)
	failed := w.create(sandbox.Way{Doomed: true})
	c := w.chain(w) // a second node of the same ledger
	if events, err := c.EventsIn(t.Context(), txOf(failed.Creation)); err != nil || len(events.Events) != 0 {
		t.Errorf("EventsIn of a transaction that failed = %+v, %v, want none", events, err)
	}
	for name, tx := range map[string]chain.TxHash{
		"unknown": chain.NewTxHash(slices.Repeat([]byte{9}, 64)), "of EVM": chain.NewTxHash(slices.Repeat([]byte{9}, 32)),
	} {
		if events, err := c.EventsIn(t.Context(), tx); !errors.Is(err, order.ErrNotFound) {
			t.Errorf("EventsIn of a transaction that is %s = %+v, %v, want ErrNotFound", name, events, err)
		}
	}
}

// TestEventsTellWhatHappened reads every kind of step from its slots, in windows of different widths.
func TestEventsTellWhatHappened(t *testing.T) {
	w := newWorld(t)
	first := w.Head()
	var want []string
	add := func(id order.ID, texts ...string) { want = append(want, expect(id, texts...)...) }

	out := w.create(sandbox.Way{})
	add(out.Terms.ID(), "Created")
	must.Do(w.t, w.PatchGive(w.later(), out.Terms.ID(), maker, 7))
	add(out.Terms.ID(), "GiveIncreased")
	must.Do(w.t, w.Claim(w.later(), taker, sandbox.Inbound{
		Submission: [32]byte{1}, From: 1, Beneficiary: taker.Key, Orders: [][32]byte{out.Terms.ID()},
	}, false))
	add(out.Terms.ID(), "Claimed 1")

	back := w.create(sandbox.Way{Forwarded: true, Versioned: true})
	add(back.Terms.ID(), "Created")
	must.Do(w.t, w.Claim(w.later(), taker, sandbox.Inbound{
		Submission: [32]byte{2}, From: 1, Cancel: true, Beneficiary: maker.Key, Orders: [][32]byte{back.Terms.ID()},
	}, true))
	add(back.Terms.ID(), "Claimed 2")
	w.create(sandbox.Way{Doomed: true})

	batch := []order.ID{w.fulfil(sandbox.Way{}, nil), w.fulfil(sandbox.Way{Versioned: true, Forwarded: true}, nil)}
	add(batch[0], "Fulfilled")
	add(batch[1], "Fulfilled")
	must.Do(w.t, w.SendUnlock(w.later(), taker, onEVM, batch[0], batch[1]))
	add(batch[0], "Sent 1")
	add(batch[1], "Sent 1")

	withCall := w.terms([]byte("external call"))
	calling := w.deliver(sandbox.Way{}, withCall)
	add(calling, "Fulfilled")
	must.Do(w.t, w.ExecuteCall(w.later(), withCall, taker, false))
	add(calling, "ExternalCall 5")
	must.Do(w.t, w.ExecuteCall(w.later(), withCall, taker, true))
	add(calling, "ExternalCall 2")
	must.Do(w.t, w.SendUnlock(w.later(), taker, onEVM, calling))
	add(calling, "Sent 1")

	cancelled := w.terms(nil)
	must.Do(w.t, w.PatchTake(w.later(), cancelled, other, 5))
	add(cancelled.ID(), "TakeDecreased")
	must.Do(w.t, w.Cancel(w.later(), cancelled, other))
	add(cancelled.ID(), "Cancelled")
	must.Do(w.t, w.SendCancel(w.later(), cancelled.ID(), other, onEVM))
	add(cancelled.ID(), "Sent 2")
	w.Mine(3)

	for _, width := range []uint64{1_000_000, 100, 7, 1} {
		c := w.chain()
		var got []order.Event
		for from := first; from <= w.Head(); from += width {
			events, err := c.Events(t.Context(), from, min(from+width-1, w.Head()))
			if err != nil {
				t.Fatalf("Events of %d slots from %d: %v", width, from, err)
			}
			got = append(got, events...)
		}
		if diff := cmp.Diff(want, facts(got)); diff != "" {
			t.Errorf("events, read %d slots at a time (-want +got):\n%s", width, diff)
		}
		seen := map[order.At]bool{}
		for _, e := range got {
			place := order.At{Block: e.At.Block, LogIndex: e.At.LogIndex}
			if seen[place] {
				t.Errorf("two events at %+v", place)
			}
			seen[place] = true
		}
	}
}

// TestEventsNameBatchesByTheirFulfilments reads a batch before the fulfilments that identify its orders, one of them
// after many failures.
func TestEventsNameBatchesByTheirFulfilments(t *testing.T) {
	w := newWorld(t)
	often := w.terms(nil)
	for range 10 {
		_ = w.Fulfil(w.later(), sandbox.Way{Doomed: true}, sandbox.Fulfilment{Terms: often, Taker: taker})
	}
	batch := []order.ID{w.deliver(sandbox.Way{}, often), w.fulfil(sandbox.Way{}, nil)}
	before := w.Head()
	must.Do(w.t, w.SendUnlock(w.later(), taker, onEVM, batch[0], batch[1]))
	events, err := w.chain().Events(t.Context(), before+1, w.Head())
	want := slices.Concat(expect(batch[0], "Sent 1"), expect(batch[1], "Sent 1"))
	if diff := cmp.Diff(want, facts(events)); err != nil || diff != "" {
		t.Errorf("Events: %v (-want +got):\n%s", err, diff)
	}
	for _, e := range events {
		if sent := e.Fact.(order.Sent); sent.Submission.IsAbsent() || sent.Submission != events[0].Fact.(order.Sent).Submission {
			t.Errorf("submission %s, want one for the whole batch", sent.Submission)
		}
	}
}

// TestEventsFollowInFewRoundTrips counts the round trips of following once it is level.
func TestEventsFollowInFewRoundTrips(t *testing.T) {
	w := newWorld(t)
	c := w.chain()
	w.create(sandbox.Way{})
	from := w.Head()
	must.Get(c.Events(t.Context(), from, from))(t)
	w.Mine(50)
	if trips := w.tripsOf(func() { _, _ = c.Events(t.Context(), w.Head()-20, w.Head()) }); trips != 1 {
		t.Errorf("%d round trips without news, want 1", trips)
	}
	from = w.Head()
	w.create(sandbox.Way{})
	var events []order.Event
	trips := w.tripsOf(func() { events, _ = c.Events(t.Context(), from+1, w.Head()) })
	if trips != 3 || len(events) != 1 { // the list, its empty end, the transaction
		t.Errorf("%d round trips for %d events, want 3 for 1", trips, len(events))
	}
}

func TestEventsForgetWhatAReorgDropped(t *testing.T) {
	w := newWorld(t)
	c := w.chain()
	from := w.Head()
	w.create(sandbox.Way{})
	if events, err := c.Events(t.Context(), from, w.Head()); err != nil || len(events) != 1 {
		t.Fatalf("Events = %+v, %v, want one", events, err)
	}
	before := must.Get(c.Block(t.Context(), w.Head()))(w.t)
	must.Do(w.t, w.Reorg(1))
	after, err := c.Block(t.Context(), before.Number)
	if err != nil || after.Hash == before.Hash {
		t.Errorf("Block after a reorg = %+v, %v, before it %+v", after, err, before)
	}
	if events, err := c.Events(t.Context(), from, w.Head()); err != nil || len(events) != 0 {
		t.Errorf("Events after the reorg = %+v, %v, want none", facts(events), err)
	}
}

func TestEventsRefuseSlotsThatAreNotThere(t *testing.T) {
	w := newWorld(t)
	if events, err := w.chain().Events(t.Context(), w.Head(), w.Head()+2); err == nil {
		t.Errorf("Events beyond the head = %+v, want an error", events)
	}
	if events, err := w.chain().Events(t.Context(), 1, w.Head()); err == nil {
		t.Errorf("Events from before the node's first block = %+v, want an error", events)
	}
}

// TestEventsOfLongAgo reads ranges whose lists have to begin at a later transaction.
func TestEventsOfLongAgo(t *testing.T) {
	w := newWorld(t)
	first := w.Head()
	old := w.create(sandbox.Way{})
	between := w.Head()
	w.Mine(20)
	next := w.create(sandbox.Way{})
	w.Mine(2000)
	c := w.chain()
	must.Get(c.Head(t.Context()))(t)
	for _, test := range []struct {
		from, to uint64
		want     sandbox.Order
	}{
		{first, w.slotOf(next.Creation) - 1, old}, // the next block has a transaction
		{first, between, old},                     // and is empty
		{between + 1, between + 900, next},
	} {
		events, err := c.Events(t.Context(), test.from, test.to)
		if diff := cmp.Diff(expect(test.want.Terms.ID(), "Created"), facts(events)); err != nil || diff != "" {
			t.Errorf("Events of slots %d to %d: %v (-want +got):\n%s", test.from, test.to, err, diff)
		}
	}
}
