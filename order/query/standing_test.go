package query

import (
	"context"
	"slices"
	"testing"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/follow"
)

// lonely is a chain of one endpoint.
type lonely struct{ *testChain }

func (l lonely) History(ctx context.Context, id order.ID, side order.Side, since uint64) (order.Evidence, error) {
	read, err := l.testChain.History(ctx, id, side, since)
	read.Standing = order.Single
	return read, err
}

func (l lonely) States(ctx context.Context, ids []order.ID) ([]order.StoredState, error) {
	return slices.Repeat([]order.StoredState{{IsSingle: true}}, len(ids)), ctx.Err()
}

// TestLocksThatOneEndpointDeniesAreNotProvenAbsent has deliveries whose creation came before the lookback: the give
// chain's one endpoint stores none.
func TestLocksThatOneEndpointDeniesAreNotProvenAbsent(t *testing.T) {
	give, take := newTestChain(1), newTestChain(137)
	give.mineEmpty(30)
	take.mineEmpty(30)
	take.mine([]told{newDeal(1, 1, 137).fulfilled()})
	for name, test := range map[string]struct {
		give order.Source
		want bool
	}{"one endpoint": {lonely{give}, true}, "two": {give, false}} {
		x := newIndex(openStore(t), map[chain.ID]order.Source{1: test.give, 137: take}, quietly(follow.Options{Chains: evmChains(1, 137), Lookback: 10}))
		followAll(t, x)
		for range 2 { // the second time from memory
			locked, basis, err := x.Locked(t.Context(), taker)
			if err != nil || len(locked) != 0 || basis.Of(1).Single != test.want || basis.Of(137).Single {
				t.Errorf("%s: Locked = %v, %v on %+v, want one endpoint's word of chain 1: %t", name, locked, err, basis, test.want)
			}
		}
	}
}

// TestACreationOfOneEndpointsWordIsNotProven has an order over whose creation came before the lookback: found by its
// unlock, it needs nothing but the creation.
func TestACreationOfOneEndpointsWordIsNotProven(t *testing.T) {
	give, take := newTestChain(1), newTestChain(137)
	d := newDeal(1, 1, 137)
	give.mine([]told{d.created()})
	give.mineEmpty(30)
	take.mineEmpty(30)
	take.mine([]told{d.fulfilled()})
	sent := take.mine([]told{d.sentUnlock()})[0]
	give.mine([]told{d.claimedUnlock()})
	for name, test := range map[string]struct {
		give order.Source
		want bool
	}{"one endpoint": {lonely{give}, true}, "two": {give, false}} {
		x := newIndex(openStore(t), map[chain.ID]order.Source{1: test.give, 137: take}, quietly(follow.Options{Chains: evmChains(1, 137), Lookback: 10}))
		followAll(t, x)
		found, _, err := x.FindIn(t.Context(), sent)
		if err != nil || len(found) != 1 || found[0].Created == nil {
			t.Fatalf("%s: FindIn = %v, %v, want the order with its creation", name, found, err)
		}
		if got := found[0].Basis; got.Of(1).Single != test.want || got.Of(137).Single {
			t.Errorf("%s: basis %+v, want one endpoint's word of chain 1: %t", name, got, test.want)
		}
	}
}
