package query

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/chain"
	"crossgate/internal/measured"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/audit"
	"crossgate/order/follow"
	"crossgate/store"
)

// oldLedger returns a chain with an order in every tenth block, and those orders.
func oldLedger(blocks int) (l *testChain, deals []deal) {
	l = newTestChain(1)
	for i := 1; i < blocks; i++ {
		if i%10 != 0 {
			l.mine()
			continue
		}
		d := newDeal(byte(i/10), 1, 137)
		l.mine([]told{d.created()})
		deals = append(deals, d)
	}
	return l, deals
}

func TestBackfillReadsWhatIsBeforeTheLookback(t *testing.T) {
	for _, test := range []struct{ origin, read, orders uint64 }{{33, 184 - 33, 17}, {190, 0, 2}} { // 184 is the first block followed
		for _, store := range []*store.DB{openStore(t), openPostgres(t)} {
			ledger, deals := oldLedger(205)
			ledger.origin = test.origin
			x := newIndex(store, map[chain.ID]order.Source{1: ledger}, quietly(follow.Options{Chains: evmChains(1), Lookback: 20, Range: 2}))
			followAll(t, x)
			if o := stored(t, store, deals[10].id); o != nil {
				t.Fatalf("order %s was read from before the lookback", o.ID)
			}
			var mu sync.Mutex
			var last audit.Progress
			must.Do(t, audit.Of(x.Chains).Backfill(t.Context(), func(p audit.Progress) {
				mu.Lock()
				defer mu.Unlock()
				last = p
			}))
			if want := (audit.Progress{Chain: 1, Total: test.read, Read: test.read, Events: test.orders - 2, Done: true}); last != want {
				t.Errorf("at the end: %+v, want %+v", last, want)
			}
			for i, d := range deals {
				if o, want := stored(t, store, d.id), uint64(10*(i+1)) >= min(test.origin, 184); (o != nil) != want {
					t.Errorf("order in block %d: stored %v, want %v", 10*(i+1), o != nil, want)
				}
			}
			ledger.mine()
			followAll(t, x)
			if !x.Followers[0].Covers(0) {
				t.Error("the follower does not know that all history is there")
			}
			status, err := audit.Of(x.Chains).Status(t.Context())
			if err != nil || status[0].Orders != test.orders || status[0].From.Number != 0 || status[0].Indexed != 205 || status[0].Head != 205 {
				t.Errorf("Status = %+v, %v", status, err)
			}
		}
	}
}

// TestWhatABackfillFirstReadWrongIsNoted: the second reading is stored, counted, and logged with the wrong endpoint.
func TestWhatABackfillFirstReadWrongIsNoted(t *testing.T) {
	chain1, deals := oldLedger(205)
	source := &forgetful{testChain: chain1, lost: map[uint64]bool{50: true, 60: true}}
	var logs bytes.Buffer
	db, now := openStore(t), measured.Start(t)
	x := newIndex(db, map[chain.ID]order.Source{1: source}, follow.Options{
		Chains: evmChains(1), Lookback: 20, Logger: slog.New(slog.NewTextHandler(&logs, nil)),
	})
	followAll(t, x)
	must.Do(t, audit.Of(x.Chains).Backfill(t.Context(), func(audit.Progress) {}))
	counted := now()["crossgate.index.corrections{crossgate.chain.id=1,}"]
	if noted := "missing=2 false=0 endpoints=forgetful"; !strings.Contains(logs.String(), noted) || counted != 2 {
		t.Errorf("%v corrections, logged %s, want 2 and %q", counted, logs.String(), noted)
	}
	if stored(t, db, deals[4].id) == nil || stored(t, db, deals[5].id) == nil {
		t.Error("an order that the first reading lost is not stored")
	}
}

// gappy is a chain that skips some block numbers: it returns the last block before such a number instead.
type gappy struct {
	*testChain
	skipped []uint64
}

func (g gappy) Block(ctx context.Context, number uint64) (order.Block, error) {
	for slices.Contains(g.skipped, number) {
		number--
	}
	return g.testChain.Block(ctx, number)
}

// TestBackfillLosesNothingBesideAGap lets ranges begin at numbers that the chain skips, after blocks with orders.
func TestBackfillLosesNothingBesideAGap(t *testing.T) {
	chain1, deals := oldLedger(205)
	db := openStore(t)
	source := gappy{chain1, []uint64{31, 71, 111, 151}}
	x := newIndex(db, map[chain.ID]order.Source{1: source}, quietly(follow.Options{Chains: evmChains(1), Lookback: 13, Range: 2}))
	followAll(t, x)
	must.Do(t, audit.Of(x.Chains).Backfill(t.Context(), func(audit.Progress) {}))
	for i, d := range deals {
		if stored(t, db, d.id) == nil {
			t.Errorf("the order of block %d is not stored", 10*(i+1))
		}
	}
}

// TestABlockOfHistoryThatIsLeftOutIsNoneOfLaterOrders makes an old block unreadable: orders created after the next
// event are still complete.
func TestABlockOfHistoryThatIsLeftOutIsNoneOfLaterOrders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger, _ := oldLedger(205)
		source := &unreadable{testChain: ledger, block: 55}
		x := newIndex(openStore(t), map[chain.ID]order.Source{1: source}, quietly(follow.Options{Chains: evmChains(1), Lookback: 20}))
		followAll(t, x)
		must.Do(t, audit.Of(x.Chains).Backfill(t.Context(), func(audit.Progress) {}))
		ledger.mine()
		followAll(t, x)
		for since, want := range map[uint64]bool{0: false, ledger.blocks[55].Time: false, ledger.blocks[60].Time + 1: true, ledger.blocks[204].Time: true} {
			if x.Followers[0].Covers(since) != want {
				t.Errorf("what happened since %d is all in the store: %t, want %t", since, !want, want)
			}
		}
	})
}

func TestBackfillSurvivesAChainThatIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger, deals := oldLedger(205)
		store := openStore(t)
		x := newIndex(store, map[chain.ID]order.Source{1: ledger}, quietly(follow.Options{Chains: evmChains(1)}))
		down := errors.New("no route to host")
		ledger.fail(down)
		var mu sync.Mutex
		var reports []audit.Progress
		ended := make(chan error)
		go func() {
			ended <- audit.Of(x.Chains).Backfill(t.Context(), func(p audit.Progress) {
				mu.Lock()
				defer mu.Unlock()
				reports = append(reports, p)
			})
		}()
		<-time.After(time.Minute)
		ledger.fail(nil)
		must.Do(t, <-ended)
		if !slices.ContainsFunc(reports, func(p audit.Progress) bool { return errors.Is(p.Err, down) }) {
			t.Error("nobody was told that the chain was down")
		}
		if o := stored(t, store, deals[0].id); o == nil {
			t.Error("the first order was not read")
		}
	})
}

// prunedLedger is a chain that has pruned the blocks before kept.
type prunedLedger struct {
	*testChain
	kept  uint64 // first available block
	cause error
}

type refusal struct{ error }

func (refusal) IsRefusal() bool { return true }

func (l prunedLedger) Block(ctx context.Context, number uint64) (order.Block, error) {
	if number < l.kept {
		return order.Block{}, l.cause
	}
	return l.testChain.Block(ctx, number)
}

func (l prunedLedger) Events(ctx context.Context, from, to uint64) ([]order.Event, error) {
	if from < l.kept {
		return nil, l.cause
	}
	return l.testChain.Events(ctx, from, to)
}

func (l prunedLedger) Origin(context.Context) (uint64, error) {
	if audit.IsRefusal(l.cause) {
		return 0, l.cause
	}
	return 0, nil
}

// TestBackfillDoesNotWaitForPrunedHistory reads the available blocks of two chains, and reports the missing ones.
func TestBackfillDoesNotWaitForPrunedHistory(t *testing.T) {
	for name, cause := range map[string]error{
		"refused":         refusal{errors.New("history has been pruned for this block")},
		"another failure": errors.New("HTTP 500"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const kept = 77
				old, deals := oldLedger(205)
				whole := newTestChain(137)
				whole.mineEmpty(100)
				db := openStore(t)
				x := newIndex(db, map[chain.ID]order.Source{1: prunedLedger{old, kept, cause}, 137: whole}, quietly(follow.Options{Chains: evmChains(1, 137), Lookback: 20, Range: 16}))
				followAll(t, x)
				var mu sync.Mutex
				last := map[chain.ID]audit.Progress{}
				err := audit.Of(x.Chains).Backfill(t.Context(), func(p audit.Progress) {
					mu.Lock()
					defer mu.Unlock()
					last[p.Chain] = p
				})
				var unread *audit.HistoryError
				if !errors.As(err, &unread) || len(unread.Unread) != 1 || unread.Unread[0].Chain != 1 || unread.Unread[0].To != kept-1 {
					t.Fatalf("Backfill = %v, want that blocks up to %d of chain 1 were not read", err, kept-1)
				}
				if p := last[1]; !p.Done || p.Err == nil {
					t.Errorf("of the pruned chain: %+v, want its end with the reason", p)
				}
				if p := last[137]; !p.Done || p.Err != nil {
					t.Errorf("of the other chain: %+v, want it whole", p)
				}
				for i, d := range deals {
					if o, want := stored(t, db, d.id), 10*(i+1) >= kept; (o != nil) != want {
						t.Errorf("order in block %d: stored %v, want %v", 10*(i+1), o != nil, want)
					}
				}
			})
		})
	}
}
