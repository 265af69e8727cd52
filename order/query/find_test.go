package query

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/follow"
	"crossgate/order/proof"
)

// world is an order between chains 1 and 137, and an unrelated chain 10.
type world struct {
	deal              deal
	give, take, aside *testChain
	creation          chain.TxHash
}

func newWorld() *world {
	w := &world{deal: newDeal(1, 1, 137), give: newTestChain(1), take: newTestChain(137), aside: newTestChain(10)}
	w.creation = w.give.mine([]told{w.deal.created()})[0]
	return w
}

func (w *world) index(t *testing.T) *Index {
	t.Helper()
	sources := map[chain.ID]order.Source{1: w.give, 137: w.take, 10: w.aside}
	return newIndex(openStore(t), sources, quietly(follow.Options{Chains: evmChains(1, 137, 10)}))
}

func (w *world) fulfil() { w.take.mine([]told{w.deal.fulfilled()}) }

func mustFind(t *testing.T, x *Index, tx chain.TxHash) Found {
	t.Helper()
	found, _, err := x.Find(t.Context(), tx)
	if err != nil || len(found) != 1 {
		t.Fatalf("Find(%s) = %v, %v, want one order", tx, found, err)
	}
	return found[0]
}

func TestFindSaysWhatIsCertainOnly(t *testing.T) {
	w := newWorld()
	x := w.index(t)
	elsewhere := w.aside.mine([]told{})[0]
	down := errors.New("no route to host")
	unknown := chain.NewTxHash(make([]byte, 32))
	signature := chain.NewTxHash(make([]byte, 64))
	tests := []struct {
		name string
		tx   chain.TxHash
		down []*testChain
		want error
	}{
		{"no chain knows it", unknown, nil, order.ErrNotFound},
		{"a chain that could know it is down", unknown, []*testChain{w.aside}, down},
		{"all chains that could know it are down", unknown, []*testChain{w.give, w.aside, w.take}, down},
		{"another chain is down, this one knows it", elsewhere, []*testChain{w.give}, order.ErrNoOrder},
		{"it exists and created nothing", elsewhere, nil, order.ErrNoOrder},
		{"the give chain is down", w.creation, []*testChain{w.give}, down},
		{"the take chain is down", w.creation, []*testChain{w.take}, down},
		{"a chain beside is down", w.creation, []*testChain{w.aside}, nil},
		{"no chain of its family", signature, nil, order.ErrNotFound},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var silent []chain.ID
			for _, each := range test.down {
				each.fail(down)
				defer each.fail(nil)
				silent = append(silent, each.id)
			}
			found, _, err := x.Find(t.Context(), test.tx)
			if !errors.Is(err, test.want) || (err == nil) != (len(found) == 1) {
				t.Fatalf("Find = %v, %v, want error %v", found, err, test.want)
			}
			var unreachable *UnreachableError
			if errors.As(err, &unreachable) != (test.want == down) {
				t.Errorf("Find: %v", err)
			}
			if unreachable != nil && !slices.Equal(unreachable.Chains, silent) {
				t.Errorf("unreachable chains %v, want %d", unreachable.Chains, silent)
			}
			unheard, is := errors.AsType[*UnheardError](err)
			if test.tx == unknown && is != (test.want == down) || is && !slices.Equal(unheard.Chains, silent) {
				t.Errorf("Find: %v, want that %d were not heard", err, silent)
			}
		})
	}
}

func followAll(t *testing.T, x *Index) {
	t.Helper()
	for _, f := range x.Followers {
		catchUp(t, f)
	}
}

// TestFindJoinsATracedCreationWithWhatIsIndexed has the take chain's follower alone have read its chain.
func TestFindJoinsATracedCreationWithWhatIsIndexed(t *testing.T) {
	w := newWorld()
	w.fulfil()
	x := w.index(t)
	catchUp(t, x.Of(137))
	if got := mustFind(t, x, w.creation); got.State != order.StateFulfilled || w.take.times("History") > 0 {
		t.Errorf("order is %s after %d questions to the take chain, want the fulfilment that is indexed", got.State, w.take.times("History"))
	}
}

func TestFindAsksAChainWhoseFollowerIsBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		x := w.index(t)
		followAll(t, x)
		w.fulfil()
		<-time.After(time.Minute) // without any follower running
		if o := mustFind(t, x, w.creation); o.State != order.StateFulfilled {
			t.Errorf("state %v, want Fulfilled", o.State)
		}
		followAll(t, x)
		w.take.drop(1)
		<-time.After(time.Minute)
		if o := mustFind(t, x, w.creation); o.State != order.StateCreated {
			t.Errorf("after a reorg that dropped the fulfilment: state %v, want Created", o.State)
		}
		w.take.fail(errors.New("no route to host"))
		var unreachable *UnreachableError
		if _, _, err := x.Find(t.Context(), w.creation); !errors.As(err, &unreachable) {
			t.Errorf("with the take chain down: %v, want an *UnreachableError", err)
		}
	})
}

// An endpoint that lags cannot undo what was stored of final blocks: w.take's history omits them.
func TestFindKeepsFinalEventsThatAHistoryLacks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.fulfil()
		w.take.mine([]told{w.deal.sentUnlock()})
		w.take.mineEmpty(40) // enough for the first ones to be proven
		x := w.index(t)
		followAll(t, x)
		<-time.After(time.Minute) // without any follower running
		w.take.drop(41)           // what the endpoint has
		if got := mustFind(t, x, w.creation); got.State != order.StateSentUnlock || w.take.times("History") == 0 {
			t.Errorf("order is %s after %d histories of the take chain, want the final unlock", got.State, w.take.times("History"))
		}
	})
}

func TestFindAsksAChainFollowedSinceTheCreationOnly(t *testing.T) {
	w := newWorld()
	w.fulfil()
	for range 30 { // puts the fulfilment before the lookback of chain 137; the creation is not before that of chain 1
		w.take.mine()
	}
	sources := map[chain.ID]order.Source{1: w.give, 137: w.take}
	x := newIndex(openStore(t), sources, quietly(follow.Options{Chains: evmChains(1, 137), Lookback: 10}))
	followAll(t, x)
	if o := mustFind(t, x, w.creation); o.State != order.StateFulfilled {
		t.Errorf("state %v, want Fulfilled", o.State)
	}
	if asked := w.give.times("EventsIn"); asked != 0 {
		t.Errorf("the creation is indexed, and chain 1 was asked %d times", asked)
	}
}

// TestFindAsksForWhatHappenedBeforeTheLookback has an order's steps, perhaps without its creation, in indexed blocks,
// and changes of its amounts before these.
func TestFindAsksForWhatHappenedBeforeTheLookback(t *testing.T) {
	for name, beforeCreation := range map[string]int{"traced": 0, "indexed": 30} {
		t.Run(name, func(t *testing.T) {
			give, take, d := newTestChain(1), newTestChain(137), newDeal(1, 1, 137)
			take.mineEmpty(beforeCreation)
			take.mine([]told{{d.id, order.TakeDecreased{Final: chain.NewAmount(800)}}})
			take.mineEmpty(30)
			give.mineEmpty(beforeCreation)
			creation := give.mine([]told{d.created()})[0]
			give.mine([]told{{d.id, order.GiveIncreased{Final: chain.NewAmount(1100)}}})
			give.mineEmpty(30 - beforeCreation)
			take.mine([]told{d.fulfilled(), d.sentUnlock()})
			give.mine([]told{d.claimedUnlock()})
			x := newIndex(openStore(t), map[chain.ID]order.Source{1: give, 137: take}, quietly(follow.Options{Chains: evmChains(1, 137), Lookback: 10}))
			followAll(t, x)
			o := mustFind(t, x, creation)
			if o.State != order.StateClaimedUnlock || o.GiveFinal != chain.NewAmount(1100) || o.TakeFinal != chain.NewAmount(800) {
				t.Errorf("order is %s, gives %s and takes %s, want ClaimedUnlock, 1100 and 800", o.State, o.GiveFinal, o.TakeFinal)
			}
		})
	}
}

// TestFindAsksAChainOfWhichBlocksAreLeftOut has a fulfilment in a block that cannot be read.
func TestFindAsksAChainOfWhichBlocksAreLeftOut(t *testing.T) {
	w := newWorld()
	w.fulfil()
	take := &unreadable{testChain: w.take, block: uint64(len(w.take.blocks) - 1)}
	x := newIndex(openStore(t), map[chain.ID]order.Source{1: w.give, 137: take}, quietly(follow.Options{Chains: evmChains(1, 137)}))
	for range proof.QuarantineAfter - 1 {
		if err := x.Of(137).CatchUp(t.Context()); !errors.As(err, new(*order.UnreadableError)) {
			t.Fatalf("catchUp: %v, want that the block cannot be read", err)
		}
	}
	followAll(t, x)
	if o := mustFind(t, x, w.creation); o.State != order.StateFulfilled {
		t.Errorf("state %v, want Fulfilled", o.State)
	}
	if before, after := x.Of(137).Covers(uint64(time.Now().Add(time.Hour).Unix())), w.give.times("History"); !before || after != 0 {
		t.Errorf("what came after the block is covered: %v; the chain without such blocks was asked %d times", before, after)
	}
}

func TestFindTellsWhatTheGiveChainKnowsOfAChainNotConfigured(t *testing.T) {
	give := newTestChain(1)
	d := newDeal(1, 1, chain.Solana)
	creation := give.mine([]told{d.created()})[0]
	x := newIndex(openStore(t), map[chain.ID]order.Source{1: give}, quietly(follow.Options{Chains: evmChains(1)}))
	if o := mustFind(t, x, creation); o.State != order.StateCreated {
		t.Errorf("state %v, want Created", o.State)
	}
	give.mine([]told{d.claimedUnlock()})
	if o := mustFind(t, x, creation); o.State != order.StateClaimedUnlock {
		t.Errorf("state %v, want ClaimedUnlock", o.State)
	}
}

func TestFindEndsWithItsCaller(t *testing.T) {
	w := newWorld()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var unreachable *UnreachableError
	_, _, err := w.index(t).Find(ctx, w.creation)
	if !errors.Is(err, context.Canceled) || errors.As(err, &unreachable) {
		t.Errorf("Find of a caller who left: %v, want it to blame no chain", err)
	}
}

// mute never answers.
type mute struct{ *testChain }

func (mute) EventsIn(ctx context.Context, _ chain.TxHash) (order.Evidence, error) {
	<-ctx.Done()
	return order.Evidence{}, ctx.Err()
}

func (m mute) Attest(ctx context.Context, _ []order.Event) (order.Evidence, error) {
	return m.EventsIn(ctx, chain.TxHash{})
}

func TestFindBlamesTheChainsThatDoNotAnswerInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newIndex(openStore(t), map[chain.ID]order.Source{1: newTestChain(1), 137: mute{newTestChain(137)}}, quietly(follow.Options{Chains: evmChains(1, 137)}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var unheard *UnheardError
		if _, _, err := x.Find(ctx, newWorld().creation); !errors.As(err, &unheard) || !slices.Equal(unheard.Chains, []chain.ID{137}) {
			t.Errorf("Find = %v, want it to name chain 137", err)
		}
	})
}

func TestByID(t *testing.T) {
	w := newWorld()
	w.fulfil()
	x := w.index(t)
	if _, err := x.ByID(t.Context(), w.deal.id); !errors.Is(err, ErrEmpty) {
		t.Errorf("before anything is indexed: %v, want ErrEmpty", err)
	}
	followAll(t, x)
	if _, err := x.ByID(t.Context(), order.ID{0xff}); !errors.Is(err, order.ErrNotFound) {
		t.Errorf("of no order: %v, want ErrNotFound", err)
	}
	o, err := x.ByID(t.Context(), w.deal.id)
	if err != nil || o.State != order.StateFulfilled {
		t.Errorf("ByID = %v, %v", o, err)
	}
}

// TestFindAnswersWithWhatCanBeRead uses a take chain whose nodes keep no old blocks: the answer has all that is known
// of the order, names the missing blocks and is not final.
func TestFindAnswersWithWhatCanBeRead(t *testing.T) {
	w := newWorld()
	w.fulfil()
	x := w.index(t)
	w.take.gap = &order.PartialError{Gap: order.Gap{Chain: 137, From: 1, To: 1000}, Err: errors.New("pruned")}
	found := mustFind(t, x, w.creation)
	if found.State != order.StateFulfilled || !slices.Equal(found.Gaps, []order.Gap{w.take.gap.Gap}) {
		t.Errorf("order is %v with gaps %v, want it as far as it is known", found.State, found.Gaps)
	}
	basis := found.Basis.Of(137)
	if basis.Final || basis.Unsearched != (order.BlockRange{From: 1, To: 1000}) || found.Basis.Of(1).Unsearched != (order.BlockRange{}) {
		t.Errorf("basis %+v, want blocks 1 to 1000 of chain 137 to be missing", found.Basis)
	}
}

// TestATransactionLeadsToItsOrders looks orders up by each of their transactions, one of which creates two orders, one
// creates an order and delivers another, and one sends the unlock of both: indexed, without asking a chain, and from the
// chains. An endpoint repeats a creation, which no contract does.
func TestATransactionLeadsToItsOrders(t *testing.T) {
	give, take := newTestChain(1), newTestChain(137)
	first, second, third := newDeal(9, 1, 137), newDeal(2, 137, 1), newDeal(3, 1, 137)
	created := give.mine([]told{first.created(), first.created(), third.created()})[0]
	take.mine([]told{third.fulfilled()})
	both := take.mine([]told{first.fulfilled(), second.created()})[0]
	delivered := give.mine([]told{second.fulfilled()})[0]
	sent := take.mine([]told{second.claimedUnlock(), first.sentUnlock()})[0]
	for name, prepare := range map[string]func(*testing.T, *Index){"indexed": followAll, "cold": func(*testing.T, *Index) {}} {
		for tx, want := range map[chain.TxHash]struct{ all, created []order.ID }{
			created:   {[]order.ID{first.id, third.id}, []order.ID{first.id, third.id}},
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
			if err != nil || !slices.Equal(idsOf(found), want.all) || found[0].Created == nil || found[0].State == order.StateCreated ||
				tx == sent && (found[1].State != order.StateSentUnlock || found[1].Fulfilled == nil) {
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

// TestAStepOfAnOrderThatNoChainStores covers a message about an order that was never created, which anyone may send.
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
	among := w.take.mine([]told{invented.sentUnlock(), w.deal.fulfilled()})[0]
	if found, _, err := x.FindIn(t.Context(), among); err != nil || !slices.Equal(idsOf(found), []order.ID{w.deal.id}) {
		t.Errorf("FindIn = %v, %v, want the order that is stored", idsOf(found), err)
	}
	lone := newIndex(openStore(t), map[chain.ID]order.Source{1: lonely{testChain: w.give}, 137: w.take}, quietly(follow.Options{Chains: evmChains(1, 137)}))
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
