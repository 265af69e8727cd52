package jsonrpc_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/internal/pooltest"
	"crossgate/internal/rpctest"
	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

// slow is a node that delays each answer, by a second unless takes is set, and counts its requests and those that were
// canceled.
type slow struct {
	answers pooltest.Transport
	takes   time.Duration
	asked   atomic.Int64
	left    atomic.Int64
}

func (s *slow) answer(r *http.Request) (*http.Response, error) {
	s.asked.Add(1)
	select {
	case <-time.After(cmp.Or(s.takes, time.Second)):
		return s.answers(r)
	case <-r.Context().Done():
		s.left.Add(1)
		return nil, r.Context().Err()
	}
}

// callers are concurrent callers of one client.
type callers struct {
	sync.WaitGroup
	t      *testing.T
	client *jsonrpc.Client
}

// ask starts a caller of eth_call about what, and checks the class of its error; zero means an answer.
func (c *callers) ask(ctx context.Context, what string, class upstream.Class) {
	c.t.Helper()
	c.Go(func() {
		var got string
		err := c.client.Call(ctx, "eth_call", &got, what)
		if upstream.ClassOf(err) != class || class == 0 && got != what {
			c.t.Errorf("Call(%s) = %q, %v, want class %d", what, got, err, class)
		}
	})
}

func TestSameCallsAreMadeOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &slow{answers: node(echo)}
		all := callers{t: t, client: rpc(t, n.answer)}
		for range 1000 {
			all.ask(t.Context(), "0x1", 0)
		}
		all.Wait()
		if n.asked.Load() != 1 {
			t.Errorf("1000 callers took %d requests, want 1", n.asked.Load())
		}
		all.ask(t.Context(), "0x1", 0)
		all.Wait()
		if n.asked.Load() != 2 {
			t.Errorf("a caller after that took %d requests, want one of its own", n.asked.Load()-1)
		}
	})
}

func TestOtherCallsAreNotJoined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &slow{answers: node(echo)}
		all := callers{t: t, client: rpc(t, n.answer)}
		for i := range 10 {
			all.ask(t.Context(), fmt.Sprintf("0x%d", i), 0)
		}
		all.Go(func() { _ = all.client.Call(t.Context(), "eth_getCode", nil, "0x1") })
		all.Go(func() { _ = all.client.Call(t.Context(), "eth_call", nil, "0x1", "latest") })
		proving := all.client.Proving("chain", chainProof(new(atomic.Int64)))
		all.Go(func() { _ = proving.Call(t.Context(), "eth_call", nil, "0x1") }) // does not trust the others' flight
		all.Wait()
		if n.asked.Load() != 13 {
			t.Errorf("13 questions took %d requests", n.asked.Load())
		}
	})
}

// A caller that is waited for never waits for background work.
func TestBackgroundJoinsOthersOnly(t *testing.T) {
	for _, test := range []struct {
		name string
		in   [2]func(context.Context) context.Context
		want int64
	}{
		{"a request, then the background", [2]func(context.Context) context.Context{context.WithoutCancel, upstream.Background.For}, 1},
		{"the background, then a request", [2]func(context.Context) context.Context{upstream.Background.For, context.WithoutCancel}, 2},
		{"a request, then a search", [2]func(context.Context) context.Context{context.WithoutCancel, upstream.Searching.For}, 1},
		{"a search, then a request", [2]func(context.Context) context.Context{upstream.Searching.For, context.WithoutCancel}, 2},
		{"twice in the background", [2]func(context.Context) context.Context{upstream.Background.For, upstream.Background.For}, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			n := &slow{answers: node(echo)}
			all := callers{t: t, client: rpc(t, n.answer)}
			for _, in := range test.in {
				all.ask(in(t.Context()), "0x1", 0)
				synctest.Wait()
			}
			all.Wait()
			if n.asked.Load() != test.want {
				t.Errorf("%s: %d requests, want %d", test.name, n.asked.Load(), test.want)
			}
		})
	}
}

// TestCallsAreMadeAgainForThoseWhoStay: if the caller that makes a call leaves, another repeats it for all that remain.
func TestCallsAreMadeAgainForThoseWhoStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &slow{answers: node(echo)}
		all := callers{t: t, client: rpc(t, n.answer)}
		first, leave := context.WithCancel(t.Context())
		hasty, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		all.ask(first, "0x1", upstream.Canceled)
		synctest.Wait()
		all.ask(hasty, "0x1", upstream.Timeout)
		for range 10 {
			all.ask(t.Context(), "0x1", 0)
		}
		<-time.After(500 * time.Millisecond)
		leave()
		begun := time.Now()
		all.Wait()
		if n.asked.Load() != 2 || n.left.Load() != 1 || time.Since(begun) != time.Second {
			t.Errorf("%d requests, %d given up, answers after %v, want one more, of all who stay", n.asked.Load(), n.left.Load(), time.Since(begun))
		}
	})
}

func TestFailureIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &slow{answers: pooltest.Always(400, "")}
		all := callers{t: t, client: rpc(t, n.answer)}
		for range 100 {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			all.ask(ctx, "0x1", upstream.Rejected)
			<-time.After(time.Millisecond)
		}
		all.Wait()
		if n.asked.Load() != 1 {
			t.Errorf("100 callers took %d requests to fail, want 1", n.asked.Load())
		}
	})
}

// A failure due to a short deadline, which gave up the first endpoint too soon, is not shared with patient callers.
func TestFailureOfAHurryIsNotShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := &slow{answers: node(echo)}, &slow{answers: pooltest.Always(400, "")}
		all := callers{t: t, client: rpc(t, a.answer, b.answer)}
		background := upstream.Background.For(t.Context()) // which waits for a slow endpoint
		hasty, cancel := context.WithTimeout(background, 1200*time.Millisecond)
		defer cancel()
		patient, cancel := context.WithTimeout(background, 20*time.Second)
		defer cancel()
		all.ask(hasty, "0x1", upstream.Timeout)
		synctest.Wait()
		for range 10 {
			all.ask(patient, "0x1", 0)
		}
		all.Wait()
		if a.asked.Load() != 2 || b.asked.Load() != 1 {
			t.Errorf("%d and %d requests, want 2 and 1", a.asked.Load(), b.asked.Load())
		}
	})
}

func TestPanicReachesItsCallerAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &slow{answers: func(*http.Request) (*http.Response, error) { panic("transport") }}
		all := callers{t: t, client: rpc(t, n.answer)}
		all.Go(func() {
			defer func() {
				if got := fmt.Sprint(recover()); got != "transport" {
					t.Errorf("recovered %q, want the panic of the transport", got)
				}
			}()
			_ = all.client.Call(t.Context(), "eth_call", nil, "0x1")
		})
		synctest.Wait()
		for range 10 {
			all.Go(func() {
				if err := all.client.Call(t.Context(), "eth_call", nil, "0x1"); err == nil {
					t.Error("Call() that joined one that panics succeeded")
				}
			})
		}
		all.Wait()
		if n.asked.Load() != 1 {
			t.Errorf("%d requests, want 1", n.asked.Load())
		}
	})
}

// TestCallersComeAndGo lets many callers request the same few things from a real server, and leave at any time.
func TestCallersComeAndGo(t *testing.T) {
	var asked atomic.Int64
	server := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		rpctest.Handler(echo).ServeHTTP(w, r)
	})
	client := jsonrpc.New(upstream.NewPool("chain", pooltest.Serve(t, "a", server), pooltest.Serve(t, "b", server)))
	const workers, rounds = 32, 40
	var working sync.WaitGroup
	for range workers {
		working.Go(func() {
			for range rounds {
				ctx, leave := context.WithCancel(t.Context())
				if rand.N(3) == 0 {
					time.AfterFunc(rand.N(time.Millisecond), leave)
				}
				calls, results := echoed(fmt.Sprint(rand.N(4)), fmt.Sprint(rand.N(4)), fmt.Sprint(rand.N(4)))
				_ = client.Batch(ctx, calls...)
				for i, call := range calls {
					if call.Err == nil && results[i] != call.Params[0] || call.Err != nil && !errors.Is(call.Err, context.Canceled) {
						t.Errorf("call for %v = %q, %v", call.Params[0], results[i], call.Err)
					}
				}
				leave()
			}
		})
	}
	working.Wait()
	if asked.Load() >= workers*rounds {
		t.Errorf("%d requests for %d batches, want fewer", asked.Load(), workers*rounds)
	}
}

// A flight that has been under way for long is not joined: its answer may be as old, or may never come.
func TestOldFlightsAreNotJoined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hangs atomic.Bool
		hangs.Store(true)
		n := &slow{answers: node(echo)}
		all := callers{t: t, client: rpc(t, func(r *http.Request) (*http.Response, error) {
			if hangs.Swap(false) {
				return pooltest.Silent(r)
			}
			return n.answer(r)
		})}
		all.ask(t.Context(), "0x1", upstream.Timeout)
		<-time.After(2500 * time.Millisecond)
		begun := time.Now()
		var late callers
		late.t, late.client = t, all.client
		for range 3 {
			late.ask(t.Context(), "0x1", 0)
		}
		late.Wait()
		if n.asked.Load() != 1 || time.Since(begun) != time.Second {
			t.Errorf("who came later took %d requests and %v, want one of their own", n.asked.Load(), time.Since(begun))
		}
		all.Wait()
	})
}

func TestOutdatedCallsAreNotJoined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &slow{answers: node(echo)}
		all := callers{t: t, client: rpc(t, n.answer)}
		for range 3 {
			for range 5 {
				all.ask(t.Context(), "0x1", 0)
			}
			synctest.Wait()
			all.client.Invalidate()
		}
		all.Wait()
		if n.asked.Load() != 3 {
			t.Errorf("%d requests, want one each time that others were outdated", n.asked.Load())
		}
	})
}

func TestFreshCallsAreJoinedOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &slow{answers: node(echo)}
		all := callers{t: t, client: rpc(t, n.answer)}
		all.ask(t.Context(), "0x1", 0)
		synctest.Wait()
		all.Go(func() {
			<-time.After(100 * time.Millisecond)
			var got string
			if err := all.client.All(t.Context(), &jsonrpc.Call{Method: "eth_call", Params: []any{"0x1"}, Out: &got, Fresh: true}); err != nil || got != "0x1" {
				t.Errorf("All() = %q, %v", got, err)
			}
		})
		<-time.After(950 * time.Millisecond)
		begun := time.Now()
		all.ask(t.Context(), "0x1", 0)
		all.Wait()
		if n.asked.Load() != 2 || time.Since(begun) != 150*time.Millisecond {
			t.Errorf("%d requests, the last answer after %v, want 2 and that of the fresh one", n.asked.Load(), time.Since(begun))
		}
	})
}
