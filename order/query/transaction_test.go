package query

import (
	"errors"
	"slices"
	"testing"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/follow"
)

// TestATransactionLeadsToItsOrders looks orders up by each of their transactions, one of which creates an order and
// delivers another, and one sends the unlock of both: indexed, without asking a chain, and from the chains.
func TestATransactionLeadsToItsOrders(t *testing.T) {
	give, take := newTestChain(1), newTestChain(137)
	first, second := newDeal(9, 1, 137), newDeal(2, 137, 1)
	created := give.mine([]told{first.created()})[0]
	both := take.mine([]told{first.fulfilled(), second.created()})[0]
	delivered := give.mine([]told{second.fulfilled()})[0]
	sent := take.mine([]told{second.claimedUnlock(), first.sentUnlock()})[0]
	for name, prepare := range map[string]func(*testing.T, *Index){"indexed": followAll, "cold": func(*testing.T, *Index) {}} {
		for tx, want := range map[chain.TxHash]struct{ all, created []order.ID }{
			created:   {[]order.ID{first.id}, []order.ID{first.id}},
			both:      {[]order.ID{second.id, first.id}, []order.ID{second.id}},
			delivered: {[]order.ID{second.id}, nil},
			sent:      {[]order.ID{second.id, first.id}, nil},
		} {
			x := newIndex(openStore(t), map[chain.ID]order.Source{1: give, 137: take}, quietly(follow.Options{Chains: evmChains(1, 137)}))
			prepare(t, x)
			placed := give.times("States") + take.times("States")
			asked := give.times("EventsIn") + take.times("EventsIn")
			ids, at, basis, err := x.IDsIn(t.Context(), tx)
			if err != nil || !slices.Equal(ids, want.all) || at.Tx != tx || len(basis.Chains) != 1 || basis.Chains[0].Chain != at.Chain {
				t.Errorf("%s: IDsIn(%s) = %v at %+v, %v, want %v", name, tx, ids, at, err, want.all)
			}
			found, _, err := x.FindIn(t.Context(), tx)
			if err != nil || !slices.Equal(idsOf(found), want.all) || found[0].Created == nil || found[0].State == order.StateCreated {
				t.Errorf("%s: FindIn(%s) = %v, %v, want %v", name, tx, idsOf(found), err, want.all)
			}
			if again := give.times("States") + take.times("States"); again != placed && tx != sent {
				t.Errorf("%s: the chains were asked where the orders of %s were created", name, tx)
			}
			last := want.all[len(want.all)-1]
			if found, _, err = x.FindIn(t.Context(), tx, last); err != nil || !slices.Equal(idsOf(found), []order.ID{last}) {
				t.Errorf("%s: FindIn(%s, %s) = %v, %v", name, tx, last, idsOf(found), err)
			}
			found, _, err = x.Find(t.Context(), tx)
			other, isOther := errors.AsType[*NotCreatedError](err)
			if !slices.Equal(idsOf(found), want.created) || isOther != (want.created == nil) || isOther && !slices.Equal(other.Orders, want.all) {
				t.Errorf("%s: Find(%s) = %v, %v, want %v", name, tx, idsOf(found), err, want.created)
			}
			historic := give.times("History") + take.times("History")
			if one, err := x.ByID(t.Context(), last); name == "indexed" && (err != nil || give.times("History")+take.times("History") != historic) {
				t.Errorf("indexed: the history of %s was asked for: %+v, %v", last, one, err)
			}
			if again := give.times("EventsIn") + take.times("EventsIn"); name == "indexed" && again != asked {
				t.Errorf("indexed: %s was asked of the chains", tx)
			}
		}
	}
}

// TestAStepOfAnOrderThatNoChainStores is a message about an order that was never created, as anyone may send.
func TestAStepOfAnOrderThatNoChainStores(t *testing.T) {
	w, down := newWorld(), errors.New("no route to host")
	x := w.index(t)
	invented := newDeal(77, 1, 137)
	tx := w.take.mine([]told{invented.sentUnlock()})[0]
	if ids, _, _, err := x.IDsIn(t.Context(), tx); err != nil || !slices.Equal(ids, []order.ID{invented.id}) {
		t.Errorf("IDsIn = %v, %v", ids, err)
	}
	if found, _, err := x.FindIn(t.Context(), tx); !errors.Is(err, order.ErrNotFound) {
		t.Errorf("FindIn = %v, %v, want that it is not found", found, err)
	}
	lone := newIndex(openStore(t), map[chain.ID]order.Source{1: lonely{w.give}, 137: w.take}, quietly(follow.Options{Chains: evmChains(1, 137)}))
	if _, _, err := lone.FindIn(t.Context(), tx); !errors.As(err, new(*UnreachableError)) {
		t.Errorf("FindIn on one endpoint's word, where others were not heard = %v", err)
	}
	w.give.fail(down)
	_, _, err := x.FindIn(t.Context(), tx)
	if silent, is := errors.AsType[*UnreachableError](err); !is || !slices.Equal(silent.Chains, []chain.ID{1}) {
		t.Errorf("FindIn without the give chain = %v", err)
	}
}

func idsOf(found []Found) (ids []order.ID) {
	for _, o := range found {
		ids = append(ids, o.ID)
	}
	return ids
}
