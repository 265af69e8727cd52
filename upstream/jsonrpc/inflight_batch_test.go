package jsonrpc_test

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"crossgate/internal/measured"
	"crossgate/internal/pooltest"
	"crossgate/internal/rpctest"
	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

// batches records the first parameters of each request to a node, and delays each by a second.
type batches struct {
	mu  sync.Mutex
	got []string
}

func (b *batches) of(answers pooltest.Transport) pooltest.Transport {
	return func(r *http.Request) (*http.Response, error) {
		asked, err := rpctest.Read(r)
		if err != nil {
			return nil, err
		}
		var what []string
		for _, call := range asked.Calls {
			what = append(what, strings.Trim(string(call.Params[0]), `"`))
		}
		b.mu.Lock()
		b.got = append(b.got, strings.Join(what, " "))
		b.mu.Unlock()
		<-time.After(time.Second)
		return answers(r)
	}
}

// atMost is a node that accepts batches of most calls, from clients that have not left.
func atMost(most int) pooltest.Transport {
	return func(r *http.Request) (*http.Response, error) {
		asked, err := rpctest.Read(r)
		if err = cmp.Or(err, r.Context().Err()); err != nil || len(asked.Calls) > most {
			return pooltest.Answer(413, "batch too large"), err
		}
		return node(echo)(r)
	}
}

// batch starts a caller that requests each of what in one batch.
func (c *callers) batch(what ...string) {
	c.t.Helper()
	c.Go(func() {
		calls, results := echoed(what...)
		if err := c.client.All(c.t.Context(), calls...); err != nil || !slices.Equal(results, what) {
			c.t.Errorf("All(%v) = %v, %v", what, results, err)
		}
	})
	synctest.Wait()
}

// TestEqualBatchesAreOne: batches are joined whole, since an endpoint's newest block vouches for the logs beside it.
func TestEqualBatchesAreOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made batches
		all := callers{t: t, client: rpc(t, made.of(node(echo)))}
		for _, what := range [][]string{{"a", "b"}, {"a"}, {"a", "b"}, {"b", "a"}, {"a"}} {
			all.batch(what...)
		}
		all.Wait()
		if want := []string{"a b", "a", "b a"}; !slices.Equal(made.got, want) {
			t.Errorf("requests %q, want %q", made.got, want)
		}
	})
}

// Callers that joined a batch that endpoints reject as too large stay joined for its halves.
func TestRefusedBatchesStayJoined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made batches
		all := callers{t: t, client: rpc(t, made.of(atMost(2)))}
		for range 20 {
			all.batch("a", "b", "c", "d")
		}
		all.Wait()
		slices.Sort(made.got)
		if want := []string{"a b", "a b c d", "c d"}; !slices.Equal(made.got, want) {
			t.Errorf("requests %q, want the batch and its halves once", made.got)
		}
	})
}

// find starts a caller that looks up something that does not exist, and doubts the answer if doubts is set.
func (c *callers) find(doubts bool) {
	c.Go(func() {
		found := new(string)
		call := &jsonrpc.Call{Method: "find", Out: &found}
		if doubts {
			call.Doubt = func(result any) bool { return *result.(**string) == nil }
		}
		if err := c.client.All(c.t.Context(), call); err != nil || found != nil {
			c.t.Errorf("find = %v, %v, want nothing", found, err)
		}
	})
	synctest.Wait()
}

// Confirmation takes answers of two endpoints, and is shared by all callers.
func TestConfirmationStaysIndependent(t *testing.T) {
	for _, test := range []struct {
		name   string
		doubts []bool
		a, b   int64
	}{
		{"all doubt", []bool{true, true, true, true}, 1, 1},
		{"nobody doubts", []bool{false, false}, 1, 0},
		{"who joins doubts", []bool{false, true}, 1, 1},
		{"all who join doubt", []bool{false, true, true, true}, 1, 1},
		{"who joins believes", []bool{true, false}, 1, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				nowhere := says(`"result":null`)
				const soon = 100 * time.Millisecond // before the delay alone makes another endpoint be called
				a, b := &slow{answers: nowhere, takes: soon}, &slow{answers: nowhere, takes: soon}
				all := callers{t: t, client: rpc(t, a.answer, b.answer)}
				for _, doubts := range test.doubts {
					all.find(doubts)
				}
				all.Wait()
				if a.asked.Load() != test.a || b.asked.Load() != test.b {
					t.Errorf("%d and %d requests, want %d and %d", a.asked.Load(), b.asked.Load(), test.a, test.b)
				}
			})
		})
	}
}

// Callers of one flight may accept different answers.
func TestEachCallerAcceptsByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const soon = 100 * time.Millisecond
		saying := func(what string) *slow {
			return &slow{answers: says(`"result":"` + what + `"`), takes: soon}
		}
		a, b := saying("old"), saying("new")
		all := callers{t: t, client: rpc(t, a.answer, b.answer)}
		ask := func(wanted ...string) {
			all.Go(func() {
				var got string
				call := &jsonrpc.Call{Method: "eth_call", Out: &got, Accept: func(result any) error {
					if !slices.Contains(wanted, *result.(*string)) {
						return &upstream.Error{Class: upstream.Rejected, Err: errors.New("not that")}
					}
					return nil
				}}
				if err := all.client.All(t.Context(), call); err != nil || got != wanted[0] {
					t.Errorf("All() = %q, %v, want %q", got, err, wanted[0])
				}
			})
			synctest.Wait()
		}
		ask("new")
		ask("old", "new")
		ask("new")
		all.Wait()
		if a.asked.Load() != 1 || b.asked.Load() != 1 {
			t.Errorf("%d and %d requests, want one each", a.asked.Load(), b.asked.Load())
		}
		ask("new") // b has proven better, and is called first
		ask("old")
		all.Wait()
		if a.asked.Load() != 2 || b.asked.Load() != 3 {
			t.Errorf("%d and %d requests, want another of each and one for who was not content", a.asked.Load(), b.asked.Load())
		}
	})
}

func TestJoinedCallsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := measured.Start(t)
		n := &slow{answers: node(echo)}
		options := upstream.EndpointOptions{Attributes: []attribute.KeyValue{attribute.Int("chain", 1)}}
		all := callers{t: t, client: jsonrpc.New(upstream.NewPool("chain", pooltest.Endpoint(t, "node", n.answer, options)))}
		for range 2 {
			all.ask(t.Context(), "0x1", 0)
			synctest.Wait()
		}
		all.Wait()
		if joined := now()["crossgate.upstream.joined{chain=1,}"]; joined != 1 {
			t.Errorf("%v calls were joined, want 1", joined)
		}
	})
}

// TestBatchedCallsAreOneRequest lets callers ask within a moment of each other: each gets its answers, even if the
// first one leaves or an endpoint rejects the batch size. Calls of another lookup are sent separately.
func TestBatchedCallsAreOneRequest(t *testing.T) {
	for name, test := range map[string]struct {
		answers pooltest.Transport
		asked   []string // per caller, each belonging to the lookup in lookups; 0: none
		lookups []int
		leaves  bool // the first caller leaves
		want    []string
	}{
		"one request":           {answers: atMost(9), asked: []string{"a b", "c", "d"}, lookups: []int{1, 1, 1}, want: []string{"a b c d"}},
		"another lookup":        {answers: atMost(9), asked: []string{"a b", "c", "d"}, lookups: []int{1, 2, 1}, want: []string{"a b d", "c"}},
		"no lookup":             {answers: atMost(9), asked: []string{"a", "b"}, lookups: []int{0, 0}, want: []string{"a", "b"}},
		"the first leaves":      {answers: atMost(9), asked: []string{"a", "b"}, lookups: []int{1, 1}, leaves: true, want: []string{"a b", "b"}},
		"an endpoint takes two": {answers: atMost(2), asked: []string{"a b", "c"}, lookups: []int{1, 1}, want: []string{"a b c", "a c", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var made batches
				client := rpc(t, made.of(test.answers)).Batching()
				var all sync.WaitGroup
				var leaves []context.CancelFunc
				lookups := []context.Context{t.Context(), upstream.WithLookup(t.Context()), upstream.WithLookup(t.Context())}
				for i, asked := range test.asked {
					ctx, leave := context.WithCancel(lookups[test.lookups[i]])
					leaves = append(leaves, leave)
					what := strings.Fields(asked)
					all.Go(func() {
						defer leave()
						calls, results := echoed(what...)
						err := client.All(ctx, calls...)
						if hasLeft := i == 0 && test.leaves; hasLeft != errors.Is(err, context.Canceled) || !hasLeft && !slices.Equal(results, what) {
							t.Errorf("All(%v) = %v, %v", what, results, err)
						}
					})
					synctest.Wait()
				}
				if test.leaves {
					leaves[0]()
				}
				all.Wait()
				for i, asked := range made.got { // a retry may join another or be joined
					made.got[i] = strings.Join(slices.Sorted(slices.Values(strings.Fields(asked))), " ")
				}
				slices.Sort(made.got)
				if !slices.Equal(made.got, test.want) {
					t.Errorf("requests %q, want %q", made.got, test.want)
				}
			})
		})
	}
}
