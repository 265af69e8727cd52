package index

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/chain"
	"crossgate/order"
)

// TestWhatIsIndexedFromTheBeginningNeedNotBeHeard has chains fail, or be silent, whose followers are level: that nothing
// was created is known of those, and of no other.
func TestWhatIsIndexedFromTheBeginningNeedNotBeHeard(t *testing.T) {
	unknown := chain.NewTxHash(make([]byte, 32))
	for name, test := range map[string]struct {
		spoil func(*testing.T, *world, *Index)
		want  error // nil: a chain is not heard
	}{
		"level":  {func(*testing.T, *world, *Index) {}, order.ErrNotFound},
		"behind": {func(*testing.T, *world, *Index) { <-time.After(time.Minute) }, nil},
		"in doubt": {func(_ *testing.T, w *world, x *Index) {
			x.byChain[1].doubtSince(order.Head{}, 1)
		}, nil},
		"a block left out": {func(_ *testing.T, w *world, x *Index) {
			x.byChain[1].sync.leaveOut([]QuarantinedBlock{{Number: 1}})
		}, nil},
		"not from the beginning": {func(_ *testing.T, w *world, x *Index) {
			x.byChain[1].sync.position.first, x.byChain[1].sync.position.firstTime = 1, 1
		}, nil},
		"the store cannot be read": {func(t *testing.T, w *world, x *Index) {
			execute(t, x.store.DB, "ALTER TABLE events RENAME TO away")
		}, ErrUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				x := w.index(t)
				followAll(t, x)
				if _, _, err := x.Find(t.Context(), unknown); !errors.Is(err, order.ErrNotFound) || errors.Is(err, ErrUnasked) {
					t.Errorf("while all chains answer: %v", err)
				}
				if _, _, err := x.Find(t.Context(), w.aside.mine([]told{})[0]); !errors.Is(err, order.ErrNoOrder) {
					t.Errorf("a transaction without an order: %v", err)
				}
				test.spoil(t, w, x)
				for _, l := range []*ledger{w.give, w.take, w.aside} {
					l.fail(errors.New("no route to host"))
				}
				_, _, err := x.Find(t.Context(), unknown)
				unheard := errors.As(err, new(*UnheardError))
				if unheard != (test.want == nil || test.want == ErrUnavailable) || test.want != nil && !errors.Is(err, test.want) ||
					errors.Is(err, ErrUnasked) != (test.want == order.ErrNotFound) {
					t.Errorf("Find = %v, want %v", err, test.want)
				}
			})
		})
	}
}

// TestCoveredChainsAreNotWaitedForLong has one chain say nothing.
func TestCoveredChainsAreNotWaitedForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := New(openStore(t), map[chain.ID]order.Source{1: newLedger(1), 137: mute{newLedger(137)}}, quietly(Options{Chains: evmChains(1, 137)}))
		followAll(t, x)
		unknown, began := chain.NewTxHash(make([]byte, 32)), time.Now()
		if _, _, err := x.Find(t.Context(), unknown); !errors.Is(err, ErrUnasked) || time.Since(began) != coveredPatience {
			t.Errorf("Find = %v after %v", err, time.Since(began))
		}
		if _, _, err := x.FindSwaps(t.Context(), 137, unknown); !errors.Is(err, ErrUnasked) {
			t.Errorf("FindSwaps = %v", err)
		}
		<-time.After(time.Minute) // in which no follower ran
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		asking := make(chan error)
		go func() { _, _, err := x.Find(ctx, unknown); asking <- err }()
		synctest.Wait()
		if unheard := x.Unheard(unknown); !slices.Equal(unheard, []chain.ID{137}) {
			t.Errorf("while the search is under way, unheard are %v, want 137", unheard)
		}
		if err := <-asking; !errors.As(err, new(*UnheardError)) || errors.Is(err, order.ErrNotFound) {
			t.Errorf("Find of a chain that is not level = %v", err)
		}
		if unheard := x.Unheard(unknown); len(unheard) > 0 {
			t.Errorf("after the search, unheard are %v", unheard)
		}
	})
}

// TestSearchesAreBounded begins more searches than are made at a time of a chain that is silent, and in the same way where
// the index says enough.
func TestSearchesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := New(openStore(t), map[chain.ID]order.Source{137: mute{newLedger(137)}}, quietly(Options{Chains: evmChains(137)}))
		flood := func(limit time.Duration) (outcomes map[error]int) {
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			var mu sync.Mutex
			var searching sync.WaitGroup
			outcomes = map[error]int{}
			for i := range 2 * mostSearches {
				tx := make([]byte, 32)
				tx[0] = byte(i)
				searching.Go(func() {
					_, _, err := x.Find(ctx, chain.NewTxHash(tx))
					mu.Lock()
					defer mu.Unlock()
					for _, known := range []error{ErrUnasked, context.DeadlineExceeded} {
						if errors.Is(err, known) {
							outcomes[known]++
						}
					}
					if errors.As(err, new(*BusyError)) {
						outcomes[nil]++
					}
				})
			}
			searching.Wait()
			return outcomes
		}
		if got := flood(10 * time.Second); got[nil] != mostSearches || got[context.DeadlineExceeded] != mostSearches {
			t.Errorf("of an unread chain: %v", got)
		}
		followAll(t, x)
		if got := flood(10 * time.Second); got[ErrUnasked] != 2*mostSearches {
			t.Errorf("of a chain that is level: %v", got)
		}
	})
}

// TestSearchesAreAdmitted has Options.Search refuse: nothing is asked, and orders that are indexed are found all the same.
func TestSearchesAreAdmitted(t *testing.T) {
	w, refused := newWorld(), errors.New("over the quota")
	x := New(openStore(t), map[chain.ID]order.Source{1: w.give, 137: w.take}, quietly(Options{
		Chains: evmChains(1, 137),
		Search: func(ctx context.Context) (context.Context, error) { return ctx, refused },
	}))
	find := func() error { _, _, err := x.Find(t.Context(), w.creation); return err }
	swaps := func() error { _, _, err := x.FindSwaps(t.Context(), 1, w.creation); return err }
	if one, other := find(), swaps(); !errors.Is(one, refused) || !errors.Is(other, refused) || w.give.times("EventsIn") > 0 {
		t.Errorf("Find, FindSwaps = %v, %v; the chain was asked %d times", one, other, w.give.times("EventsIn"))
	}
	followAll(t, x)
	if err := find(); err != nil {
		t.Errorf("Find of an indexed order = %v", err)
	}
}

// slowHead answers late what it knew when it was asked.
type slowHead struct{ *ledger }

func (s slowHead) Head(ctx context.Context) (order.Head, error) {
	head, err := s.ledger.Head(ctx)
	<-time.After(time.Minute)
	return head, err
}

// TestSlowHeadsSayNothingOfNow has a chain take a minute for its head: what came in the meantime is not known.
func TestSlowHeadsSayNothingOfNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for slow, source := range map[bool]order.Source{false: newLedger(1), true: slowHead{newLedger(1)}} {
			x := New(openStore(t), map[chain.ID]order.Source{1: source}, quietly(Options{Chains: evmChains(1)}))
			followAll(t, x)
			if got := x.byChain[1].covers(0); got == slow {
				t.Errorf("a chain whose head is slow: %v; covered: %v", slow, got)
			}
		}
	})
}
