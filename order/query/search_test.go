package query

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/audit"
	"crossgate/order/follow"
)

// noCalls is the error of a chain that may not be called.
type noCalls struct{ error }

func (noCalls) IsShort() bool          { return true }
func (noCalls) RetryIn() time.Duration { return time.Second }

// TestWhatIsIndexedFromTheBeginningNeedNotBeHeard lets chains fail, or lack budget, whose followers are level as of the
// question, or almost: only those are known to have created nothing.
func TestWhatIsIndexedFromTheBeginningNeedNotBeHeard(t *testing.T) {
	unknown := chain.NewTxHash(make([]byte, 32))
	down := errors.New("no route to host")
	wait := func(d time.Duration) func(*testing.T, *world, *Index) {
		return func(_ *testing.T, w *world, _ *Index) { <-time.After(d) }
	}
	short := func(d time.Duration) func(*testing.T, *world, *Index) {
		return func(_ *testing.T, w *world, _ *Index) {
			for _, l := range []*testChain{w.give, w.take, w.aside} {
				l.fail(noCalls{down})
			}
			<-time.After(d)
		}
	}
	for name, test := range map[string]struct {
		spoil func(*testing.T, *world, *Index)
		want  error // nil: some chain is not heard
	}{
		"level":                          {wait(0), order.ErrNotFound},
		"level before the question":      {wait(time.Millisecond), nil},
		"behind":                         {wait(time.Minute), nil},
		"no calls left, level just now":  {short(coveredAge), order.ErrNotFound},
		"no calls left, level until now": {short(coveredAge + time.Millisecond), nil},
		"in doubt": {func(t *testing.T, w *world, x *Index) {
			w.give.drop(1)
			w.give.mine()
			x.Of(1).Watch(t.Context())
		}, nil},
		"a block left out": {func(t *testing.T, w *world, x *Index) {
			execute(t, x.DB, `INSERT INTO quarantined_blocks (chain, number, reason, since) VALUES (1, 1, 'not readable', 1)`)
			catchUp(t, x.Of(1))
		}, nil},
		"not from the beginning": {func(t *testing.T, w *world, x *Index) {
			execute(t, x.DB, `UPDATE checkpoints SET first_block = 1, first_time = 1 WHERE chain = 1`)
			catchUp(t, x.Of(1))
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
				for _, l := range []*testChain{w.give, w.take, w.aside} {
					l.fail(cmp.Or(l.unreachable, down))
				}
				_, _, err := x.Find(t.Context(), unknown)
				unheard := errors.As(err, new(*UnheardError))
				if unheard != (test.want == nil) || test.want != nil && !errors.Is(err, test.want) ||
					errors.Is(err, ErrUnasked) != (test.want == order.ErrNotFound) {
					t.Errorf("Find = %v, want %v", err, test.want)
				}
			})
		})
	}
}

// TestChainsAreWaitedForUntilTheIndexHasCaughtUpWithTheQuestion has a chain that does not answer about transactions:
// its content is known once its follower has looked again, and is then found in the index.
func TestChainsAreWaitedForUntilTheIndexHasCaughtUpWithTheQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := newTestChain(137)
		x := newIndex(openStore(t), map[chain.ID]order.Source{1: newTestChain(1), 137: mute{silent}}, quietly(follow.Options{Chains: evmChains(1, 137)}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for name, find := range map[string]func(chain.TxHash) (bool, error){
			"order": func(tx chain.TxHash) (bool, error) { found, _, err := x.Find(ctx, tx); return len(found) > 0, err },
			"swap": func(tx chain.TxHash) (bool, error) {
				found, _, err := x.FindSwaps(ctx, 137, tx)
				return len(found) > 0, err
			},
		} {
			for _, isThere := range []bool{false, true} {
				followAll(t, x)
				<-time.After(100 * time.Millisecond)
				tx := chain.NewTxHash(make([]byte, 32))
				if isThere {
					tx = silent.mineSwaps([]told{newDeal(byte(len(name)), 137, 1).created(), swapped(byte(len(name)))})[0]
					silent.mineEmpty(10) // it is final
				}
				asking := make(chan error)
				go func() {
					found, err := find(tx)
					if found != isThere {
						t.Errorf("%s: found: %v, want %v", name, found, isThere)
					}
					asking <- err
				}()
				<-time.After(coveredPatience + 100*time.Millisecond)
				if late, is := errors.AsType[*UnheardError](x.Late(tx)); !is || !slices.Equal(late.Chains, []chain.ID{137}) {
					t.Errorf("%s: before the next look: %v, want that 137 is not heard", name, late)
				}
				followAll(t, x)
				began := time.Now()
				if err := <-asking; isThere && err != nil || !isThere && !errors.Is(err, ErrUnasked) {
					t.Errorf("%s: there: %v; found with %v", name, isThere, err)
				}
				if took := time.Since(began); took > coveredPatience {
					t.Errorf("%s: found %v after the index had it", name, took)
				}
				if histories, lacking := silent.times("History"), len(x.Of(137).Lacking); histories+lacking > 0 {
					t.Errorf("%s: the index has it, but %d histories were read and %d orders count as lacking", name, histories, lacking)
				}
				if late := x.Late(tx); late != nil {
					t.Errorf("%s: after the search: %v", name, late)
				}
			}
		}
	})
}

// TestSearchesAreBounded makes more concurrent searches of a silent chain than are allowed, and the same if the index
// suffices.
func TestSearchesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newIndex(openStore(t), map[chain.ID]order.Source{137: mute{newTestChain(137)}}, quietly(follow.Options{Chains: evmChains(137)}))
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

// TestSearchesAreAdmitted refuses in Options.Search: no chain is called, and indexed orders are still found.
func TestSearchesAreAdmitted(t *testing.T) {
	w, refused := newWorld(), errors.New("over the quota")
	x := newIndex(openStore(t), map[chain.ID]order.Source{1: w.give, 137: w.take}, quietly(follow.Options{Chains: evmChains(1, 137)}))
	x.Search = func(ctx context.Context) (context.Context, error) { return ctx, refused }
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

// slowHead returns its head a minute late.
type slowHead struct{ *testChain }

func (s slowHead) Head(ctx context.Context) (order.Head, error) {
	head, err := s.testChain.Head(ctx)
	select {
	case <-time.After(time.Minute):
		return head, err
	case <-ctx.Done():
		return order.Head{}, ctx.Err()
	}
}

// TestSlowHeadsSayNothingOfNow: blocks that appear while a chain takes a minute to return its head are not covered.
func TestSlowHeadsSayNothingOfNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for slow, source := range map[bool]order.Source{false: newTestChain(1), true: slowHead{newTestChain(1)}} {
			x := newIndex(openStore(t), map[chain.ID]order.Source{1: source}, quietly(follow.Options{Chains: evmChains(1)}))
			followAll(t, x)
			if got := x.Of(1).Covers(0); got == slow {
				t.Errorf("a chain whose head is slow: %v; covered: %v", slow, got)
			}
			if status, err := audit.Of(x.Chains).Status(t.Context()); err != nil || (status[0].Err != nil) != slow {
				t.Errorf("Status of a chain whose head is slow: %v = %+v, %v", slow, status, err)
			}
		}
	})
}
