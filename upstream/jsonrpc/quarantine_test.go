package jsonrpc_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/internal/pooltest"
	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

// naming returns a call that accepts only the result want.
func naming(want string, out *string) *jsonrpc.Call {
	return &jsonrpc.Call{Method: "receipt", Params: []any{want}, Out: out, Accept: func(result any) error {
		if *result.(*string) != want {
			return errors.New("not the receipt asked for")
		}
		return nil
	}}
}

// A lying endpoint is quarantined for one minute, then for five, twenty-five and thirty, and for one again after half
// an hour of good conduct. Its reason is logged, and it is not called meanwhile.
func TestLiarsArePutAsideLongerAndLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines bytes.Buffer
		var asked atomic.Int64
		liar := pooltest.Endpoint(t, "liar", tells(`"another"`, &asked), upstream.EndpointOptions{Logger: slog.New(slog.NewTextHandler(&lines, nil))})
		honest := pooltest.Endpoint(t, "honest", node(echo))
		ask := func() upstream.Health {
			t.Helper()
			var got string
			pool := upstream.NewPool("chain", liar, honest) // a new pool calls the liar first, if at all
			if err := jsonrpc.New(pool).All(t.Context(), naming("mine", &got)); err != nil || got != "mine" {
				t.Fatalf("receipt = %q, %v, want the honest one", got, err)
			}
			return liar.Health()
		}
		for _, minutes := range []int{1, 5, 25, 30, 30} {
			term := time.Duration(minutes) * time.Minute
			health, before := ask(), asked.Load()
			if health.RetryAfter != term || health.Standing != "quarantined" || !strings.Contains(health.Reason, "not the receipt asked for") {
				t.Fatalf("after a lie: %+v, want it in quarantine for %v with the reason", health, term)
			}
			for range 20 {
				<-time.After(term / 21)
				ask()
			}
			if asked.Load() != before {
				t.Errorf("a liar was asked %d times while in quarantine", asked.Load()-before)
			}
			<-time.After(term / 20)
		}
		if got := strings.Count(lines.String(), "endpoint quarantined for a wrong answer"); got != 5 {
			t.Errorf("%d lines, want one for each time:\n%s", got, lines.String())
		}
		<-time.After(time.Hour)
		if got := ask().RetryAfter; got != time.Minute {
			t.Errorf("in quarantine for %v after half an hour without a lie, want a minute", got)
		}
	})
}

// An answer that an endpoint may legitimately lack does not hide a wrong one in the same batch.
func TestALieIsFoundBehindALack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where no endpoint is slow
		liar := pooltest.Endpoint(t, "liar", tells(`"another"`, new(atomic.Int64)))
		lacking := naming("first", new(string))
		accept := lacking.Accept
		lacking.Accept = func(result any) error {
			if err := accept(result); err != nil {
				return &upstream.Error{Class: upstream.Rejected, Err: err}
			}
			return nil
		}
		client := jsonrpc.New(upstream.NewPool("chain", liar, pooltest.Endpoint(t, "honest", node(echo))))
		if err := client.All(t.Context(), lacking, naming("second", new(string))); err != nil || liar.Health().Standing != "quarantined" {
			t.Errorf("%v; the liar is %s, want it quarantined", err, liar.Health().Standing)
		}
	})
}

// An endpoint that no other contradicts may be right: a strange answer to a caller's question proves nothing by itself.
func TestNobodyIsPutAsideUncontradicted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where waits for retries pass at once
		var asked atomic.Int64
		strange := tells(`"another"`, &asked)
		for name, pool := range map[string]*upstream.Pool{
			"one endpoint":     upstream.NewPool("chain", pooltest.Endpoint(t, "a", strange)),
			"all say the same": upstream.NewPool("chain", pooltest.Endpoint(t, "a", strange), pooltest.Endpoint(t, "b", strange)),
			"the other knows nothing": upstream.NewPool("chain", pooltest.Endpoint(t, "a", tells("null", &asked)),
				pooltest.Endpoint(t, "b", node(echo))),
		} {
			for range 3 {
				_ = jsonrpc.New(pool).All(t.Context(), naming("mine", new(string)))
			}
			for _, health := range pool.Health() {
				if !health.CanBeAsked {
					t.Errorf("%s: %+v, want nobody in quarantine", name, health)
				}
			}
		}
	})
}

// An endpoint that serves another chain convicts itself and is quarantined immediately.
func TestWrongIdentityIsPutAsideAtOnce(t *testing.T) {
	var requests, proofs atomic.Int64
	pool := upstream.NewPool("chain", pooltest.Endpoint(t, "node", ofChain("0x2", &requests)))
	client := jsonrpc.New(pool).Proving("chain", chainProof(&proofs))
	first := client.Call(t.Context(), "web3_name", new(string))
	second := client.Call(t.Context(), "web3_name", new(string))
	if upstream.ClassOf(first) != upstream.BadAnswer || upstream.ClassOf(second) != upstream.Unusable || requests.Load() != 1 {
		t.Errorf("Call() = %v, then %v, with %d requests, want the lie, then a refusal after 1", first, second, requests.Load())
	}
	var refused *upstream.Error
	if !errors.As(second, &refused) || refused.RetryAfter > time.Minute || !strings.Contains(second.Error(), "serves chain 0x2") {
		t.Errorf("refusal = %v, want it for a minute at most and with its reason", second)
	}
}
