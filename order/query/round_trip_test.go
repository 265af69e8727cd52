package query

import (
	"testing"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/follow"
)

// TestOrdersTakeTwoRoundTrips counts how often the database is waited for until orders of one transaction, which are
// stored and not final, are found: for all of their events, and for all blocks that those are in. A slow link delays
// each of these.
func TestOrdersTakeTwoRoundTrips(t *testing.T) {
	direct := newDatabase(t)
	link := must.Get(shared.server.NewLink())(t)
	t.Cleanup(func() { link.Close() })
	give, take := newTestChain(1), newTestChain(137)
	var creations []chain.TxHash
	for i := range byte(2) {
		first, second, third := newDeal(3*i+1, 1, 137), newDeal(3*i+2, 1, 137), newDeal(3*i+3, 1, 137)
		creations = append(creations, give.mine([]told{first.created(), second.created(), third.created()})...)
		take.mine([]told{first.fulfilled()}, []told{second.fulfilled(), third.fulfilled()})
		take.mine([]told{second.sentUnlock()})
	}
	db := openReplica(t, link.To(direct))
	x := newIndex(db, map[chain.ID]order.Source{1: give, 137: take}, quietly(follow.Options{Chains: evmChains(1, 137)}))
	followAll(t, x)
	for i, tx := range creations {
		before := link.RoundTrips()
		found, _, err := x.Find(t.Context(), tx)
		if err != nil || len(found) != 3 {
			t.Fatalf("Find = %v, %v, want 3 orders", found, err)
		}
		for _, o := range found {
			if o.Basis.Chains[0].Final || o.Basis.Chains[0].Unread || o.Basis.Chains[1].Unread {
				t.Errorf("order %s rests on %+v, want blocks that were read and are not final", o.ID, o.Basis.Chains)
			}
		}
		made := link.RoundTrips() - before
		if i > 0 && made != 2 { // the first makes a connection and has it prepare the statements
			t.Errorf("%d round trips, want 2", made)
		}
	}
}
