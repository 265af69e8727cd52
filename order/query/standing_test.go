package query

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/audit"
	"crossgate/order/follow"
	"crossgate/order/ledger"
)

// lonely is a chain of one endpoint, which says the same of every order.
type lonely struct {
	*testChain
	state order.State
}

func (l lonely) History(ctx context.Context, id order.ID, side order.Side, since uint64) (order.Evidence, error) {
	read, err := l.testChain.History(ctx, id, side, since)
	read.Standing = order.Single
	return read, err
}

func (l lonely) States(ctx context.Context, ids []order.ID) ([]order.StoredState, error) {
	return slices.Repeat([]order.StoredState{{State: l.state, IsSingle: true}}, len(ids)), ctx.Err()
}

func (l lonely) Attest(_ context.Context, events []order.Event) (order.Evidence, error) {
	return order.Evidence{Events: events}, nil
}

// TestLocksThatOneEndpointDeniesAreNotProvenAbsent has deliveries whose creations are before the lookback, and are not
// stored on the give chain, by its only endpoint.
func TestLocksThatOneEndpointDeniesAreNotProvenAbsent(t *testing.T) {
	give, take := newTestChain(1), newTestChain(137)
	give.mineEmpty(30)
	take.mineEmpty(30)
	take.mine([]told{newDeal(1, 1, 137).fulfilled()})
	for name, test := range map[string]struct {
		give order.Source
		want bool
	}{"one endpoint": {lonely{testChain: give}, true}, "two": {give, false}} {
		x := newIndex(openStore(t), map[chain.ID]order.Source{1: test.give, 137: take}, quietly(follow.Options{Chains: evmChains(1, 137), Lookback: 10}))
		followAll(t, x)
		for range 2 { // the second time from the cache
			locked, basis, err := x.Locked(t.Context(), taker)
			if err != nil || len(locked) != 0 || basis.Of(1).Single != test.want || basis.Of(137).Single {
				t.Errorf("%s: Locked = %v, %v on %+v, want one endpoint's word of chain 1: %t", name, locked, err, basis, test.want)
			}
		}
	}
}

// TestACreationOfOneEndpointsWordIsNotProven has a settled order whose creation is before the lookback: found by its
// unlock, it lacks only the creation.
func TestACreationOfOneEndpointsWordIsNotProven(t *testing.T) {
	give, take := newTestChain(1), newTestChain(137)
	d := newDeal(1, 1, 137)
	created := give.mine([]told{d.created()})[0]
	give.mineEmpty(30)
	take.mineEmpty(30)
	take.mine([]told{d.fulfilled()})
	sent := take.mine([]told{d.sentUnlock()})[0]
	give.mine([]told{d.claimedUnlock()})
	for name, test := range map[string]struct {
		give order.Source
		want bool
	}{"one endpoint": {lonely{testChain: give}, true}, "two": {give, false}} {
		x := newIndex(openStore(t), map[chain.ID]order.Source{1: test.give, 137: take}, quietly(follow.Options{Chains: evmChains(1, 137), Lookback: 10}))
		followAll(t, x)
		if _, _, basis, err := x.IDsIn(t.Context(), created); err != nil || basis.Of(1).Single != test.want {
			t.Errorf("%s: IDsIn = %+v, %v, want one endpoint's word: %t", name, basis, err, test.want)
		}
		if one, err := x.ByID(t.Context(), d.id); err != nil || one.Created == nil {
			t.Errorf("%s: ByID = %+v, %v, want the order with its creation", name, one, err)
		}
		found, _, err := x.FindIn(t.Context(), sent)
		if err != nil || len(found) != 1 || found[0].Created == nil {
			t.Fatalf("%s: FindIn = %v, %v, want the order with its creation", name, found, err)
		}
		if got := found[0].Basis; got.Of(1).Single != test.want || got.Of(137).Single {
			t.Errorf("%s: basis %+v, want one endpoint's word of chain 1: %t", name, got, test.want)
		}
	}
}

// disputed is a chain whose endpoints disagree about transactions: the first reports said, the others agreed.
type disputed struct {
	*testChain
	said, agreed func([]order.Event) []order.Event
	standing     order.Standing
}

func (d disputed) EventsIn(ctx context.Context, tx chain.TxHash) (order.Evidence, error) {
	read, err := d.testChain.EventsIn(ctx, tx)
	truth := read.Events
	read.Events = d.said(truth)
	read.Confirm = func(context.Context) order.Evidence {
		return order.Evidence{Events: d.agreed(truth), Standing: d.standing}
	}
	return read, err
}

// TestOneEndpointsCreationIsConfirmed looks up a transaction that created two orders, one of which has later steps in
// the store.
func TestOneEndpointsCreationIsConfirmed(t *testing.T) {
	give, take := newTestChain(1), newTestChain(137)
	d, other := newDeal(1, 1, 137), newDeal(2, 1, 137)
	creation := give.mine([]told{d.created(), other.created()})[0]
	give.mineEmpty(30)
	take.mineEmpty(30)
	take.mine([]told{d.fulfilled()})
	take.mine([]told{d.sentUnlock()})
	give.mine([]told{d.claimedUnlock()})
	all := func(events []order.Event) []order.Event { return events }
	none := func([]order.Event) []order.Event { return nil }
	first := func(events []order.Event) []order.Event { return events[:1] }
	fees := func(events []order.Event) []order.Event {
		events = slices.Clone(events)
		fact := events[0].Fact.(order.Created)
		fact.FixFee = chain.NewAmount(12345)
		events[0].Fact = fact
		return events
	}
	for name, test := range map[string]struct {
		said, agreed func([]order.Event) []order.Event
		standing     order.Standing
		want         int // orders
		isSingle     bool
	}{
		"agreed":             {all, all, order.Corroborated, 2, false},
		"one endpoint":       {all, all, order.Single, 2, true},
		"other fees":         {fees, all, order.Corroborated, 2, false},
		"an order less":      {first, all, order.Intrinsic, 2, false},
		"an order too many":  {all, first, order.Intrinsic, 1, false},
		"no order after all": {all, none, order.Corroborated, 0, false},
		"nor a known sender": {all, none, order.Single, 0, true},
	} {
		x := newIndex(openStore(t), map[chain.ID]order.Source{1: disputed{give, test.said, test.agreed, test.standing}, 137: take},
			quietly(follow.Options{Chains: evmChains(1, 137), Lookback: 10}))
		followAll(t, x)
		again, err := x.ask(t.Context(), &query{chain: 1, order: d.id, side: order.GiveSide, creation: creation})
		if single := again.Standing == order.Single; err != nil || test.isSingle != single || strings.Contains(order.Say(again.Events), "12345") {
			t.Errorf("%s: read again %+v, %v, want one endpoint's word: %t", name, again, err, test.isSingle)
		}
		found, _, err := x.Find(t.Context(), creation)
		ids, _, placed, idsErr := x.IDsIn(t.Context(), creation)
		if errors.Is(err, order.ErrNoOrder) != (test.want == 0) || len(found) != test.want || errors.Is(idsErr, order.ErrNoOrder) != (test.want == 0) || len(ids) != test.want {
			t.Errorf("%s: Find = %d orders, %v, IDsIn = %d, %v, want %d", name, len(found), err, len(ids), idsErr, test.want)
		}
		if test.want > 0 && placed.Of(1).Single != test.isSingle {
			t.Errorf("%s: the place is one endpoint's word: %t, want %t", name, placed.Of(1).Single, test.isSingle)
		}
		for _, each := range found {
			if each.Basis.Of(1).Single != test.isSingle || each.Created.Fact.FixFee == chain.NewAmount(12345) {
				t.Errorf("%s: order %+v on basis %+v, want one endpoint's word: %t", name, each.Created.Fact, each.Basis.Of(1), test.isSingle)
			}
		}
	}
}

// TestOneEndpointDeniesNothingCertain has a creation in a store that is behind: one endpoint of the give chain stores
// none, or a claim.
func TestOneEndpointDeniesNothingCertain(t *testing.T) {
	give, take := newTestChain(1), newTestChain(137)
	d := newDeal(1, 1, 137)
	give.mine([]told{d.created()})
	take.mine([]told{d.fulfilled()})
	claims := newIndex(openStore(t), map[chain.ID]order.Source{1: lonely{give, order.StateClaimedUnlock}, 137: take}, quietly(follow.Options{Chains: evmChains(1, 137)}))
	x := newIndex(openStore(t), map[chain.ID]order.Source{1: lonely{testChain: give}, 137: take}, quietly(follow.Options{Chains: evmChains(1, 137)}))
	followAll(t, x)
	followAll(t, claims)
	audits, err := audit.Of(x.Chains).Audit(t.Context(), ledger.Selection{Chain: 1}, func(audit.Progress) {})
	if err != nil || len(audits) != 1 || len(audits[0].Differences) != 0 || len(audits[0].Unchecked) != 1 {
		t.Errorf("Audit = %+v, %v, want the order neither compared nor different", audits, err)
	}
	for _, x := range []*Index{x, claims} {
		x.Behind = 0
		locked, basis, err := x.Locked(t.Context(), taker)
		if err != nil || len(locked) != 1 || !basis.Of(1).Single {
			t.Errorf("Locked = %v, %v on %+v, want the lock, and chain 1 one endpoint's word", locked, err, basis)
		}
	}
}

// TestOneEndpointsSwapIsConfirmed looks up a transaction with two swaps that the store lacks.
func TestOneEndpointsSwapIsConfirmed(t *testing.T) {
	l := newTestChain(1)
	tx := l.mineSwaps([]told{swapped(1), swapped(2)})[0]
	all := func(events []order.Event) []order.Event { return events }
	first := func(events []order.Event) []order.Event { return events[:1] }
	for name, test := range map[string]struct {
		said, agreed func([]order.Event) []order.Event
		standing     order.Standing
		want         int
	}{
		"agreed":          {all, all, order.Corroborated, 2},
		"one endpoint":    {all, all, order.Single, 2},
		"a swap less":     {first, all, order.Intrinsic, 2},
		"a swap too many": {all, first, order.Intrinsic, 1},
	} {
		x := newIndex(openStore(t), map[chain.ID]order.Source{1: disputed{l, test.said, test.agreed, test.standing}}, quietly(follow.Options{Chains: evmChains(1)}))
		found, _, err := x.FindSwaps(t.Context(), 1, tx)
		if err != nil || len(found) != test.want || found[0].Basis.Of(1).Single != (test.standing == order.Single) {
			t.Errorf("%s: FindSwaps = %+v, %v, want %d on standing %d", name, found, err, test.want, test.standing)
		}
	}
}
