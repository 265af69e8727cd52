package query

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/audit"
	"crossgate/order/follow"
	"crossgate/order/ledger"
)

// loggedLedger returns history without the senders of transactions, except of creations.
type loggedLedger struct {
	*testChain
	asked atomic.Int64 // transactions
	fails atomic.Bool
	alone atomic.Bool // no second endpoint confirms the senders
}

func (l *loggedLedger) Attest(_ context.Context, events []order.Event) (order.Evidence, error) {
	if l.alone.Load() {
		return order.Evidence{Events: events}, nil
	}
	return order.Evidence{Events: events, Standing: order.Corroborated}, nil
}

func (l *loggedLedger) Verify(_ context.Context, _, _ uint64, first []order.Event) (order.Evidence, error) {
	return order.Evidence{Events: first, Standing: order.Intrinsic}, nil
}

func (l *loggedLedger) EventsOfLogs(ctx context.Context, from, to uint64) ([]order.Event, error) {
	events, err := l.Events(ctx, from, to)
	for i := range events {
		if !ledger.IsCreation(events[i]) {
			events[i].At.Initiator = chain.Address{}
		}
	}
	return events, err
}

func (l *loggedLedger) EventsIn(ctx context.Context, tx chain.TxHash) (order.Evidence, error) {
	l.asked.Add(1)
	if l.fails.Load() {
		return order.Evidence{}, errors.New("history has been pruned")
	}
	return l.testChain.EventsIn(ctx, tx)
}

// TestInitiatorsAreReadForOrdersThatAreAskedFor backfills from logs: an order is completed on request, its transactions
// are read once two endpoints have them, and if a chain no longer has one the order says what it lacks.
func TestInitiatorsAreReadForOrdersThatAreAskedFor(t *testing.T) {
	give, take := newTestChain(1), &loggedLedger{testChain: newTestChain(137)}
	d := newDeal(1, 1, 137)
	give.mine([]told{d.created()})
	take.mine([]told{d.fulfilled()})
	take.mine([]told{d.sentUnlock()})
	give.mine([]told{d.claimedUnlock()})
	for range 30 {
		give.mine()
		take.mine()
	}
	db := openStore(t)
	x := newIndex(db, map[chain.ID]order.Source{1: give, 137: take}, quietly(follow.Options{Chains: evmChains(1, 137), Lookback: 5}))
	followAll(t, x)
	must.Do(t, audit.Of(x.Chains).Backfill(t.Context(), func(audit.Progress) {}))
	followAll(t, x)
	stepsOf := func() (at []order.At, gaps []order.Gap) {
		found := must.Get(x.ByID(t.Context(), d.id))(t)
		return []order.At{found.Fulfilled.At, found.SentUnlock.At}, found.Gaps
	}
	take.fails.Store(true)
	steps, gaps := stepsOf()
	if len(gaps) != 2 || gaps[0].Chain != 137 || gaps[0].From != gaps[0].To || !steps[0].Initiator.IsAbsent() {
		t.Errorf("of a chain that has the transactions no more: %+v, gaps %v, want one for each of two blocks", steps, gaps)
	}
	take.fails.Store(false)
	take.alone.Store(true)
	if found, err := x.ByID(t.Context(), d.id); err != nil || !found.Basis.Of(137).Single || found.Basis.Of(1).Single {
		t.Errorf("of senders that one endpoint reports: %+v, %v, want that to be said of chain 137", found.Basis, err)
	}
	take.alone.Store(false)
	take.asked.Store(0)
	want := chain.NewAddress([]byte("initiator"))
	for range 2 {
		steps, gaps := stepsOf()
		if len(gaps) > 0 || steps[0].Initiator != want || steps[1].Initiator != want {
			t.Errorf("%+v, gaps %v, want the initiators and no gaps", steps, gaps)
		}
	}
	if asked := take.asked.Load(); asked != 2 {
		t.Errorf("%d transactions were read, want each of 2 once", asked)
	}
}

// TestEventsWithoutInitiatorsAreNoDifference compares events from logs with those from transactions.
func TestEventsWithoutInitiatorsAreNoDifference(t *testing.T) {
	l := newTestChain(137)
	d := newDeal(1, 1, 137)
	l.mine([]told{d.fulfilled()})
	whole := must.Get(l.Events(t.Context(), 0, 1))(t)
	logged, err := (&loggedLedger{testChain: l}).EventsOfLogs(t.Context(), 0, 1)
	if err != nil || len(logged) != 1 || !logged[0].At.Initiator.IsAbsent() {
		t.Fatalf("%+v, %v, want one event without an initiator", logged, err)
	}
	if c := ledger.Correct(logged, whole); !c.IsEmpty() {
		t.Errorf("correct = %+v, want nothing", c)
	}
	other := whole[0]
	other.At.Initiator = chain.NewAddress([]byte("somebody else"))
	if c := ledger.Correct(whole, []order.Event{other}); len(c.Missing) != 1 || len(c.Wrong) != 1 {
		t.Errorf("correct of another initiator = %+v, want one event in the place of the other", c)
	}
}
