package query

import (
	"context"
	"errors"
	"slices"
	"testing"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/audit"
	"crossgate/order/follow"
	"crossgate/order/ledger"
)

// TestContractsHaveTheLastWord deletes events of orders behind the index's back: reconciliation reads them again,
// compares settled orders once, and counts permanent contradictions of the contracts.
func TestContractsHaveTheLastWord(t *testing.T) {
	lostTerms := damages[1] // events of one chain, then of the other
	lostTerms.name, lostTerms.state = "lost terms", order.StateSentUnlock
	lostTerms.statement = `DELETE FROM events WHERE kind IN (1, 4) AND order_number = (SELECT number FROM orders WHERE id = $1)`
	a := newAudited(t, openPostgres(t))
	sound := dump(t, a.store)
	for _, damage := range append(slices.Clone(damages), lostTerms) { // each is repaired before the next one
		if damage.missing == 0 || damage.false > 0 {
			continue // the contracts store only states and amounts
		}
		t.Run(damage.name, func(t *testing.T) {
			damageStore(t, a.store, damage.statement, a.deals[damage.state].id)
			give, take := audit.Of(a.Chains).Reconcilers()[0], audit.Of(a.Chains).Reconcilers()[1]
			for _, r := range []*audit.Reconciler{take, give} {
				if _, err := r.Step(t.Context()); err != nil || len(r.Unsettled) > 0 {
					t.Fatalf("chain %d: %v, %d orders are unsettled", r.ID, err, len(r.Unsettled))
				}
			}
			if got := dump(t, a.store); !slices.Equal(got, sound) {
				t.Errorf("the store holds %d rows, want the %d of before", len(got), len(sound))
			}
		})
	}
}

// TestAnOrderThatTheStoreLacksIsComparedOnceItIsFound looks up an order that the store has lost, though its blocks were
// read. The chains answer, and the next steps read it again.
func TestAnOrderThatTheStoreLacksIsComparedOnceItIsFound(t *testing.T) {
	a := newAudited(t, openStore(t))
	sound, d := dump(t, a.store), a.deals[order.StateFulfilled]
	creation := a.give.blocks[2].txs[0]
	damageStore(t, a.store, `DELETE FROM events WHERE order_number = (SELECT number FROM orders WHERE id = $1)`, d.id)
	found, _, err := a.Find(t.Context(), creation)
	if err != nil || len(found) != 1 || found[0].Order.State != order.StateFulfilled {
		t.Fatalf("found %+v, %v, want the order with its fulfilment", found, err)
	}
	for _, r := range audit.Of(a.Chains).Reconcilers() {
		for lacking := a.Of(r.ID).Lacking; len(lacking) > 0; {
			r.Again[<-lacking] = true
		}
		must.Get(r.Step(t.Context()))(t)
	}
	if got := dump(t, a.store); !slices.Equal(got, sound) {
		t.Errorf("the store holds %d rows, want the %d of before", len(got), len(sound))
	}
}

// lockedUp is a keeper with a block that no endpoint gives a second time, or only with a refusal.
type lockedUp struct {
	keeper
	block uint64
	err   error
}

func (l lockedUp) Verify(ctx context.Context, from, to uint64, first []order.Event) (order.Evidence, error) {
	if from <= l.block && l.block <= to {
		return order.Evidence{}, l.err
	}
	return l.keeper.Verify(ctx, from, to, first)
}

// TestABlockThatNoEndpointGivesHoldsUpNoOtherOrder deletes fulfilments of two orders, one of them in a block that cannot
// be read again: the other is mended, and the next step begins anew.
func TestABlockThatNoEndpointGivesHoldsUpNoOtherOrder(t *testing.T) {
	for name, err := range map[string]error{"unreadable": &order.UnreadableError{Block: 1, Err: errors.New("no receipt")}, "pruned": refusal{errors.New("pruned")}} {
		t.Run(name, func(t *testing.T) {
			a := newAudited(t, openStore(t))
			sound := dump(t, a.store)
			kept, mended := a.deals[order.StateFulfilled].id, a.deals[order.StateSentUnlock].id
			for _, id := range []order.ID{kept, mended} {
				damageStore(t, a.store, damages[1].statement, id)
			}
			r := audit.Of(a.Chains).Reconcilers()[1]
			r.Source = lockedUp{a.take, 1, err}
			if _, err := r.Step(t.Context()); err != nil || len(r.Unsettled) != 1 || !r.Unsettled[kept] {
				t.Errorf("Step() = %v, %v are unsettled, want %s alone", err, r.Unsettled, kept)
			}
			if got := dump(t, a.store); len(got) != len(sound)-1 {
				t.Errorf("the store holds %d rows, want all %d but one", len(got), len(sound))
			}
		})
	}
}

// TestBlocksBehindOneThatNoEndpointGivesAreVerified repairs a chain whose block 5 cannot be read again.
func TestBlocksBehindOneThatNoEndpointGivesAreVerified(t *testing.T) {
	a := newAudited(t, openStore(t))
	execute(t, a.store.DB, `UPDATE checkpoints SET proven_from = 9, proven_end = 9`)
	unread := &order.UnreadableError{Block: 5, Err: errors.New("no receipt")}
	x := newIndex(a.store.DB, map[chain.ID]order.Source{137: lockedUp{a.take, 5, unread}}, quietly(follow.Options{Chains: evmChains(137), Pace: follow.Pace{Asked: 1}}))
	repairs := must.Get(audit.Of(x.Chains).RepairBlocks(t.Context(), 137, 0, 1<<62, func(audit.Progress) {}))(t)
	position, _, err := a.store.Checkpoint(t.Context(), 137)
	left := must.Get(a.store.Quarantined(t.Context(), 137, ledger.Range{From: 0, To: 1000}))(t)
	if err != nil || repairs[0].Err != nil || position.ProvenFrom != 0 || len(left) != 1 || left[0].Number != 5 {
		t.Errorf("repair %+v, %v; proven from %d, left out %+v, want block 5 alone", repairs, err, position.ProvenFrom, left)
	}
}

// TestTheEndOfACallIsComparedToo: even if the contracts' states are explained, a call's execution may be missing.
func TestTheEndOfACallIsComparedToo(t *testing.T) {
	a := newAudited(t, openStore(t))
	d := newDeal(9, 1, 137)
	d.terms.ExternalCall = []byte{1}
	a.give.mine([]told{d.created()})
	a.take.mine([]told{d.fulfilled(), {d.id, order.ExternalCall{Step: order.CallRegistered}}})
	a.take.mine([]told{d.sentUnlock()}, []told{{d.id, order.ExternalCall{Step: order.CallExecuted}}})
	a.give.mineEmpty(10)
	a.take.mineEmpty(10)
	followAll(t, a.Index)
	sound := dump(t, a.store)
	damageStore(t, a.store, `DELETE FROM events WHERE kind = 8 AND order_number = (SELECT number FROM orders WHERE id = $1)`, d.id)
	must.Get(audit.Of(a.Chains).Reconcilers()[1].Step(t.Context()))(t)
	if got := dump(t, a.store); !slices.Equal(got, sound) {
		t.Errorf("the store holds %d rows, want %d with the call", len(got), len(sound))
	}
}

// dueOf returns the orders that are compared next on a chain.
func dueOf(t *testing.T, r *audit.Reconciler) []order.ID {
	t.Helper()
	ids, all, err := r.Ledger.Uncompared(t.Context(), r.ID, order.ID{}, 1000)
	if err != nil || all != len(ids) {
		t.Fatalf("%d of %d orders: %v", len(ids), all, err)
	}
	return ids
}

func TestOrdersThatAreOverAreComparedOnce(t *testing.T) {
	a := newAudited(t, openStore(t))
	give, take := audit.Of(a.Chains).Reconcilers()[0], audit.Of(a.Chains).Reconcilers()[1]
	created, fulfilled := a.deals[order.StateCreated], a.deals[order.StateFulfilled]
	sent, claimed := a.deals[order.StateSentUnlock], a.deals[order.StateClaimedUnlock]
	expect := func(when string, r *audit.Reconciler, want ...deal) {
		t.Helper()
		var ids []order.ID
		for _, d := range want {
			ids = append(ids, d.id)
		}
		slices.SortFunc(ids, chain.Hash.Compare)
		if got := dueOf(t, r); !slices.Equal(got, ids) {
			t.Errorf("%s: %d orders are compared on chain %d, want %d", when, len(got), r.ID, len(ids))
		}
	}
	step := func(r *audit.Reconciler) {
		t.Helper()
		must.Get(r.Step(t.Context()))(t)
	}
	expect("at first", give, created, fulfilled, sent, claimed)
	expect("at first", take, created, fulfilled, sent, claimed)
	step(give)
	step(take)
	expect("once compared", give, created, fulfilled, sent)
	expect("once compared", take, created, fulfilled)
	a.give.mine([]told{sent.claimedUnlock()})
	followAll(t, a.Index)
	step(give)
	expect("with a new event that is not final", give, created, fulfilled, sent)
	for range 10 {
		a.give.mine()
	}
	followAll(t, a.Index)
	step(give)
	expect("once that is final", give, created, fulfilled)
	step(take)
	expect("once the new event was seen on the other side", take, created, fulfilled)
}

// amnesiac is a keeper whose contracts have forgotten one order.
type amnesiac struct {
	keeper
	id order.ID
}

func (f amnesiac) States(ctx context.Context, ids []order.ID) ([]order.StoredState, error) {
	states, err := f.keeper.States(ctx, ids)
	if at := slices.Index(ids, f.id); at >= 0 && err == nil {
		states[at] = order.StoredState{}
	}
	return states, err
}

func TestStatesThatNothingExplainsAreUnsettled(t *testing.T) {
	a := newAudited(t, openStore(t))
	d := a.deals[order.StateClaimedUnlock]
	sound := dump(t, a.store)
	r := audit.Of(a.Chains).Reconcilers()[0]
	r.Orders = amnesiac{a.give, d.id}
	for range 2 {
		if _, err := r.Step(t.Context()); err != nil || len(r.Unsettled) != 1 || !r.Unsettled[d.id] {
			t.Fatalf("%v, unsettled %v, want %s", err, r.Unsettled, d.id)
		}
	}
	if got := dump(t, a.store); !slices.Equal(got, sound) {
		t.Errorf("a contract's word removed what blocks hold: %d rows, want %d", len(got), len(sound))
	}
}

// TestAllUnsettledOrdersAreCounted has more of them than are compared again per step, on a chain that stores none, and as
// many in all as are compared in one: the step after that begins anew.
func TestAllUnsettledOrdersAreCounted(t *testing.T) {
	const count = 500
	give, take := newTestChain(1), newTestChain(137)
	var txs [][]told
	for number := range count {
		d := newDeal(byte(number), 1, 137)
		d.id[0] = byte(1 + number>>8)
		txs = append(txs, []told{d.created()})
	}
	give.mine(txs...)
	x := newIndex(openStore(t), map[chain.ID]order.Source{1: give, 137: take}, quietly(follow.Options{Chains: evmChains(1, 137)}))
	followAll(t, x)
	r := audit.Of(x.Chains).Reconcilers()[0]
	r.Orders = lonely{testChain: give}
	for range 2 {
		if _, err := r.Step(t.Context()); err != nil || len(r.Unsettled) != count {
			t.Errorf("%v, %d orders are unsettled, want all %d", err, len(r.Unsettled), count)
		}
	}
	r.Orders = give
	for step := range 4 {
		if steps := must.Get(r.Step(t.Context()))(t); len(r.Unsettled) != 0 || (steps > 0) != (step%2 == 0) {
			t.Errorf("step %d, of %d: %d orders are unsettled, want none once the chain stores them", step, steps, len(r.Unsettled))
		}
	}
}
