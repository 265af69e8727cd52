package query

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/audit"
	"crossgate/order/follow"
	"crossgate/store"
)

// importable is an index that has read nothing, of two chains with orders of every state.
type importable struct {
	*Index
	give, take keeper
	deals      map[order.State]deal
}

func newImportable(db *store.DB) *importable {
	i := &importable{}
	i.give, i.take, i.deals = everyState()
	i.Index = newIndex(db, map[chain.ID]order.Source{1: i.give, 137: i.take}, quietly(follow.Options{Chains: evmChains(1, 137), Lookback: 1}))
	return i
}

func (i *importable) delivered() []order.ID {
	return []order.ID{i.deals[order.StateFulfilled].id, i.deals[order.StateSentUnlock].id, i.deals[order.StateClaimedUnlock].id}
}

// mustImport imports orders of the taker.
func (i *importable) mustImport(t *testing.T, ids ...order.ID) audit.Imported {
	t.Helper()
	came, err := audit.Of(i.Chains).Import(t.Context(), taker, ids, func(audit.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	return came
}

// asked is how many questions both chains have answered.
func (i *importable) asked() int {
	return i.give.times("History") + i.give.times("EventsIn") + i.take.times("History") + i.take.times("EventsIn")
}

// TestImportedOrdersCountAsIfTheirBlocksHadBeenRead imports, follows on and reads the history afterwards.
func TestImportedOrdersCountAsIfTheirBlocksHadBeenRead(t *testing.T) {
	for name, open := range map[string]func(testing.TB) *store.DB{"SQLite": openStore, "PostgreSQL": openPostgres} {
		t.Run(name, func(t *testing.T) {
			db := open(t)
			i := newImportable(db)
			var last audit.Progress
			twice := append(i.delivered(), i.delivered()...)
			came, err := audit.Of(i.Chains).Import(t.Context(), taker, twice, func(p audit.Progress) { last = p })
			if diff := cmp.Diff(audit.Imported{Listed: 3, Verified: 3}, came); err != nil || diff != "" {
				t.Fatalf("Import: %v (-want +got):\n%s", err, diff)
			}
			if want := (audit.Progress{Chain: 1, Total: 3, Read: 3, Events: 9, Done: true}); last != want {
				t.Errorf("at the end: %+v, want %+v", last, want)
			}
			i.checkAgainst(t, db, "imported")
			followAll(t, i.Index)
			locked, _, err := i.Locked(t.Context(), taker)
			if err != nil || len(locked) != 1 || locked[0].Tokens[0].Amount != chain.NewAmount(2000) {
				t.Errorf("Locked = %+v, %v, want 2000 for two orders", locked, err)
			}

			asked := i.asked()
			if came := i.mustImport(t, i.delivered()...); came.Stored != 3 || came.Verified != 0 || i.asked() != asked {
				t.Errorf("imported again: %+v after %d questions, want none", came, i.asked()-asked)
			}

			i.take.mine([]told{i.deals[order.StateFulfilled].sentUnlock()})
			i.give.mine([]told{i.deals[order.StateFulfilled].claimedUnlock()})
			followAll(t, i.Index)
			i.checkAgainst(t, db, "followed on")

			if err := audit.Of(i.Chains).Backfill(t.Context(), func(audit.Progress) {}); err != nil {
				t.Fatal(err)
			}
			i.checkAgainst(t, db, "read anew by a backfill")
			if created := stored(t, db, i.deals[order.StateCreated].id); created == nil {
				t.Error("the backfill left an order out")
			}
		})
	}
}

// checkAgainst compares what is stored of the delivered orders with an index that has read every block.
func (i *importable) checkAgainst(t *testing.T, db *store.DB, how string) {
	t.Helper()
	straight := openStore(t)
	followAll(t, newIndex(straight, map[chain.ID]order.Source{1: i.give, 137: i.take}, quietly(follow.Options{Chains: evmChains(1, 137)})))
	for _, id := range i.delivered() {
		if diff := cmp.Diff(stored(t, straight, id), stored(t, db, id), compare); diff != "" {
			t.Errorf("%s: order %s (-straight +got):\n%s", how, id, diff)
		}
	}
}

func TestImportCountsNothingThatTheChainsDoNotConfirm(t *testing.T) {
	i := newImportable(openStore(t))
	forged, elsewhere, foreign := newDeal(20, 1, 137), newDeal(21, 1, 10), newDeal(22, 1, 137)
	other := chain.NewAddress([]byte("another authority 20"))
	amount := foreign.terms.Take.Amount
	i.give.mine([]told{elsewhere.created(), foreign.created()})
	i.take.mine([]told{forged.fulfilled(), {foreign.id, order.Fulfilled{
		Terms: foreign.terms, ActualAmount: &amount, Taker: other, UnlockAuthority: other,
	}}})
	i.give.mine()
	waiting := i.deals[order.StateCreated].id

	came := i.mustImport(t, waiting, forged.id, elsewhere.id, foreign.id)
	if diff := cmp.Diff([]audit.Foreign{{Order: waiting}, {Order: foreign.id, Taker: other}}, came.Foreign, compare); diff != "" {
		t.Errorf("orders of others (-want +got):\n%s", diff)
	}
	if len(came.Unverified) != 2 || came.Unverified[0].Order != forged.id || !errors.Is(came.Unverified[0].Err, order.ErrNotFound) ||
		came.Unverified[1].Order != elsewhere.id {
		t.Errorf("not verified: %+v, want %s and %s", came.Unverified, forged.id, elsewhere.id)
	}
	if came.Verified != 0 {
		t.Errorf("%d orders verified, want none", came.Verified)
	}
	for _, id := range []order.ID{waiting, forged.id, elsewhere.id, foreign.id} {
		if o := stored(t, i.store.DB, id); o != nil {
			t.Errorf("order %s is stored", id)
		}
	}
}

// secretive is a chain whose logs lack what its contracts have stored.
type secretive struct{ keeper }

func (s secretive) History(ctx context.Context, id order.ID, side order.Side, since uint64) (order.Evidence, error) {
	read, err := s.keeper.History(ctx, id, side, since)
	read.Events = slices.DeleteFunc(read.Events, func(e order.Event) bool { _, claimed := e.Fact.(order.Claimed); return claimed })
	return read, err
}

func TestImportNeedsEveryStepThatTheContractsTellOf(t *testing.T) {
	i := newImportable(openStore(t))
	i.Index = newIndex(i.store.DB, map[chain.ID]order.Source{1: secretive{i.give}, 137: i.take}, quietly(follow.Options{Chains: evmChains(1, 137)}))
	claimed := i.deals[order.StateClaimedUnlock].id
	came := i.mustImport(t, i.delivered()...)
	if came.Verified != 2 || len(came.Unverified) != 1 || came.Unverified[0].Order != claimed {
		t.Errorf("Import = %+v, want %s not verified", came, claimed)
	}
	if o := stored(t, i.store.DB, claimed); o != nil {
		t.Errorf("order %s is stored", claimed)
	}
}

func TestImportGoesOnWhenAChainAnswersAgain(t *testing.T) {
	i := newImportable(openStore(t))
	down := errors.New("no route to host")
	for _, l := range []keeper{i.give, i.take} {
		l.fail(down)
		if came := i.mustImport(t, i.delivered()...); came.Verified != 0 || len(came.Unverified) != 3 ||
			!errors.Is(came.Unverified[0].Err, down) {
			t.Errorf("while chain %d is down: %+v, want nothing verified and why", l.id, came)
		}
		l.fail(nil)
	}
	i.give.gap = &order.PartialError{Gap: order.Gap{Chain: 1, From: 2, To: 3}, Err: down}
	if came := i.mustImport(t, i.delivered()...); came.Verified != 0 || len(came.Unverified) != 3 {
		t.Errorf("while blocks cannot be searched: %+v, want nothing verified", came)
	}
	i.give.gap = nil
	if came := i.mustImport(t, i.delivered()...); came.Verified != 3 || len(came.Unverified) != 0 {
		t.Errorf("afterwards: %+v, want all verified", came)
	}
}
