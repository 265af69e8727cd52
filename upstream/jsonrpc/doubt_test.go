package jsonrpc_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/internal/must"
	"crossgate/internal/pooltest"
	"crossgate/internal/rpctest"
	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

// tells returns a node that answers every call with result.
func tells(result string, requests *atomic.Int64) pooltest.Transport {
	return node(func(rpctest.Call) string {
		requests.Add(1)
		return `"result":` + result
	})
}

// find looks up something, and doubts an answer that it does not exist.
func find(ctx context.Context, client *jsonrpc.Client) (found *string, err error) {
	call := &jsonrpc.Call{Method: "find", Out: &found, Doubt: func(result any) bool { return *result.(**string) == nil }}
	err = client.Batch(ctx, call)
	return found, cmp.Or(err, call.Err)
}

func TestDoubtIsConfirmedByASecondEndpoint(t *testing.T) {
	down := pooltest.Always(503, "")
	useless := says(`"error":{"code":-32603,"message":"inner error"}`)
	var asked, lies atomic.Int64
	tests := []struct {
		name      string
		endpoints []pooltest.Transport
		found     bool
		class     upstream.Class // zero if no error
		asked     int64
	}{
		{"one endpoint only", []pooltest.Transport{tells("null", &asked)}, false, 0, 1},
		{"found at once", []pooltest.Transport{tells(`"it"`, &asked), tells("null", &asked)}, true, 0, 1},
		{"found by the second", []pooltest.Transport{tells("null", &asked), tells(`"it"`, &asked)}, true, 0, 2},
		{"nowhere", []pooltest.Transport{tells("null", &asked), tells("null", &asked), tells(`"it"`, &asked)}, false, 0, 2},
		{"nowhere, one is down", []pooltest.Transport{tells("null", &asked), down, tells("null", &asked)}, false, 0, 2},
		{"the others are down", []pooltest.Transport{tells("null", &asked), down}, false, 0, 1},
		{"the first is down", []pooltest.Transport{down, tells("null", &asked)}, false, 0, 1},
		{"another is of no use", []pooltest.Transport{useless, tells("null", &asked), tells("null", &asked)}, false, 0, 2},
		{"the others are of no use", []pooltest.Transport{useless, tells("null", &asked), useless}, false, 0, 1},
		{"the others lie", []pooltest.Transport{tells("[]", &lies), tells("null", &asked)}, false, 0, 1},
		{"the others are down, one knows it", []pooltest.Transport{tells("null", &asked), down, tells(`"it"`, &asked)}, true, 0, 2},
		{"all are down", []pooltest.Transport{down, down}, false, upstream.ServerError, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // where waits for retries pass at once
				asked.Store(0)
				found, err := find(t.Context(), rpc(t, test.endpoints...))
				if (found != nil) != test.found || asked.Load() != test.asked {
					t.Errorf("found %v after %d requests, want %v after %d", found != nil, asked.Load(), test.found, test.asked)
				}
				var failed *upstream.Error
				if errors.As(err, &failed) != (test.class != 0) || failed != nil && failed.Class != test.class {
					t.Errorf("error %v, want class %v", err, test.class)
				}
			})
		})
	}
}

// An endpoint that may not be called at all does not count as a missing witness.
func TestDoubtEndsWhereNobodyElseMayBeAsked(t *testing.T) {
	for name, remove := range map[string]func(*upstream.Endpoint){
		"cordoned":    (*upstream.Endpoint).Cordon,
		"quarantined": func(e *upstream.Endpoint) { e.Quarantine(t.Context(), errors.New("lied")) },
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int64
			away, there := pooltest.Endpoint(t, "away", tells("null", &asked)), pooltest.Endpoint(t, "there", tells("null", &asked))
			remove(away)
			if found, err := find(t.Context(), jsonrpc.New(upstream.NewPool("chain", away, there))); found != nil || err != nil || asked.Load() != 1 {
				t.Errorf("found %v, %v after %d requests, want nothing after 1", found, err, asked.Load())
			}
		})
	}
}

// A second endpoint that hangs takes at most half of the caller's time, so that the caller still gets the first answer.
func TestDoubtEndsBeforeTheCallersTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		if _, err := find(ctx, rpc(t, tells("null", &asked), pooltest.Silent)); err != nil || ctx.Err() != nil {
			t.Errorf("%v; context: %v", err, ctx.Err())
		}
	})
}

// A caller does not wait long for confirmation from an endpoint that is silent, whether that was called first or
// second. In the background it gets its full time.
func TestSilentWitnessIsNotWaitedForLong(t *testing.T) {
	const limit = 12 * time.Second
	for name, test := range map[string]struct {
		silentFirst, isBackground bool
		most                      time.Duration
	}{
		"asked second":               {false, false, 2 * time.Second},
		"asked first":                {true, false, 2 * time.Second},
		"nobody waits, asked second": {false, true, limit},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked atomic.Int64
				ctx, cancel := context.WithTimeout(t.Context(), limit)
				defer cancel()
				if test.isBackground {
					ctx = upstream.Background.For(ctx)
				}
				answers := []pooltest.Transport{tells("null", &asked), pooltest.Silent}
				if test.silentFirst {
					slices.Reverse(answers)
				}
				began := time.Now()
				if found, err := find(ctx, rpc(t, answers...)); err != nil || found != nil {
					t.Errorf("%v", err)
				}
				if took := time.Since(began); took > test.most || test.isBackground && took < limit/4 {
					t.Errorf("an answer after %v, want up to %v, and longer where nobody waits", took, test.most)
				}
			})
		})
	}
}

// TestASearchIsNotOverForLackOfBudget lets the only endpoint that could confirm the first run out of its rate: other
// work trusts the first, a search fails with an error that says when to retry.
func TestASearchIsNotOverForLackOfBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		options := upstream.EndpointOptions{RequestsPerSecond: 1, Burst: 1}
		spent := pooltest.Endpoint(t, "spent", tells("null", &asked), options)
		client := jsonrpc.New(upstream.NewPool("chain", pooltest.Endpoint(t, "free", tells("null", &asked)), spent))
		for _, work := range []upstream.Work{upstream.Answering, upstream.Searching} {
			must.Get(spent.Do(t.Context(), upstream.Request{}))(t)
			ctx, cancel := context.WithTimeout(work.For(t.Context()), 500*time.Millisecond)
			defer cancel()
			call := &jsonrpc.Call{Method: "find", Out: new(*string), Doubt: func(any) bool { return true }}
			if err := client.All(ctx, call); (err != nil) != (work == upstream.Searching) || err != nil && !upstream.IsShort(err) {
				t.Errorf("work %d: %v", work, err)
			}
		}
		<-time.After(5 * time.Second)
		call := &jsonrpc.Call{Method: "find", Out: new(*string), Doubt: func(any) bool { return true }}
		if err := client.All(upstream.Searching.For(t.Context()), call); err != nil {
			t.Errorf("a search when both endpoints have a share left: %v", err)
		}
	})
}

// An endpoint that confirms that something does not exist is not preferred for it.
func TestConfirmingIsNoMerit(t *testing.T) {
	var first, second atomic.Int64
	pool := upstream.NewPool("chain", pooltest.Endpoint(t, "first", tells("null", &first)), pooltest.Endpoint(t, "second", tells("null", &second)))
	client := jsonrpc.New(pool)
	doubtful := &jsonrpc.Call{Method: "find", Out: new(*string), Doubt: func(any) bool { return true }}
	if err := client.Batch(t.Context(), doubtful); err != nil || doubtful.Err != nil {
		t.Fatal(err, doubtful.Err)
	}
	must.Do(t, client.Call(t.Context(), "find", new(*string)))
	if first.Load() != 2 || second.Load() != 1 {
		t.Errorf("%d and %d requests, want 2 and 1", first.Load(), second.Load())
	}
}
