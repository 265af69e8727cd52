package upstream_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/upstream"
)

// naming wants the result that was asked for.
func naming(want string, out *string) *upstream.Call {
	return &upstream.Call{Method: "receipt", Params: []any{want}, Out: out, Accept: func(result any) error {
		if *result.(*string) != want {
			return errors.New("not the receipt asked for")
		}
		return nil
	}}
}

// A liar is put aside for a minute, then for five, twenty-five and thirty, and for a minute again after half an hour of good
// conduct. It is named with its reason and not asked meanwhile.
func TestLiarsArePutAsideLongerAndLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines bytes.Buffer
		var asked atomic.Int64
		liar := endpoint(t, "liar", tells(`"another"`, &asked), upstream.EndpointOptions{Logger: slog.New(slog.NewTextHandler(&lines, nil))})
		honest := endpoint(t, "honest", node(echo))
		ask := func() upstream.Health {
			t.Helper()
			var got string
			pool := upstream.NewPool("chain", liar, honest) // a new one asks the liar first, if at all
			if err := upstream.NewRPC(pool).All(t.Context(), naming("mine", &got)); err != nil || got != "mine" {
				t.Fatalf("receipt = %q, %v, want the honest one", got, err)
			}
			return liar.Health()
		}
		for _, minutes := range []int{1, 5, 25, 30, 30} {
			term := time.Duration(minutes) * time.Minute
			health, before := ask(), asked.Load()
			if health.RetryAfter != term || health.Standing != "put aside for a lie" || !strings.Contains(health.Reason, "not the receipt asked for") {
				t.Fatalf("after a lie: %+v, want it put aside for %v with the reason", health, term)
			}
			for range 20 {
				<-time.After(term / 21)
				ask()
			}
			if asked.Load() != before {
				t.Errorf("a liar was asked %d times while put aside", asked.Load()-before)
			}
			<-time.After(term / 20)
		}
		if got := strings.Count(lines.String(), "endpoint is put aside for a lie"); got != 5 {
			t.Errorf("%d lines, want one for each time:\n%s", got, lines.String())
		}
		<-time.After(time.Hour)
		if got := ask().RetryAfter; got != time.Minute {
			t.Errorf("put aside for %v after half an hour without a lie, want a minute", got)
		}
	})
}

// Whom nobody contradicts may be right: what the answer to a caller's question looks like proves nothing alone.
func TestNobodyIsPutAsideUncontradicted(t *testing.T) {
	var asked atomic.Int64
	strange := tells(`"another"`, &asked)
	for name, pool := range map[string]*upstream.Pool{
		"one endpoint":     upstream.NewPool("chain", endpoint(t, "a", strange)),
		"all say the same": upstream.NewPool("chain", endpoint(t, "a", strange), endpoint(t, "b", strange)),
		"the other knows nothing": upstream.NewPool("chain", endpoint(t, "a", tells("null", &asked)),
			endpoint(t, "b", node(echo))),
	} {
		for range 3 {
			_ = upstream.NewRPC(pool).All(t.Context(), naming("mine", new(string)))
		}
		for _, health := range pool.Health() {
			if !health.CanBeAsked {
				t.Errorf("%s: %+v, want nobody put aside", name, health)
			}
		}
	}
}

// Who serves another chain says so itself.
func TestWrongIdentityIsPutAsideAtOnce(t *testing.T) {
	var requests, proofs atomic.Int64
	pool := upstream.NewPool("chain", endpoint(t, "node", ofChain("0x2", &requests), upstream.EndpointOptions{LongestBan: 10 * time.Second}))
	client := upstream.NewRPC(pool).Proving(chainProof(&proofs))
	first := client.Call(t.Context(), "web3_name", new(string))
	second := client.Call(t.Context(), "web3_name", new(string))
	if classOf(first) != upstream.BadAnswer || classOf(second) != upstream.Withheld || requests.Load() != 1 {
		t.Errorf("Call() = %v, then %v, with %d requests, want the lie, then a refusal after 1", first, second, requests.Load())
	}
	var refused *upstream.Error
	if !errors.As(second, &refused) || refused.RetryAfter > 10*time.Second || !strings.Contains(second.Error(), "serves chain 0x2") {
		t.Errorf("refusal = %v, want it for 10 s at most and with its reason", second)
	}
}

// An endpoint that is cordoned gets nothing at all, be it a caller's or our own; what it was doing goes on.
func TestCordonedEndpointIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, 100*time.Millisecond, 100*time.Millisecond)
		under := make(chan error, 1)
		go func() {
			_, err := p.pool.Do(t.Context(), upstream.Request{}, nil)
			under <- err
		}()
		synctest.Wait()
		p.endA.Cordon()
		if err := <-under; err != nil {
			t.Errorf("Do() that was under way = %v, want its answer", err)
		}
		asked := p.askedA.Load()
		for range 100 {
			if got := p.ask(t); got != "b" {
				t.Fatalf("Do() = %q, want b's answer", got)
			}
			<-time.After(time.Second)
		}
		if p.askedA.Load() != asked || p.pool.Health()[0].Standing != "cordoned" {
			t.Errorf("asked %d times while %s", p.askedA.Load()-asked, p.pool.Health()[0].Standing)
		}
		p.endB.Cordon()
		_, err := p.pool.Do(t.Context(), upstream.Request{}, nil)
		if classOf(err) != upstream.Withheld || !strings.Contains(err.Error(), "an operator has taken it out of use") {
			t.Errorf("Do() with all endpoints cordoned = %v, want to be told so", err)
		}
		p.endB.Uncordon()
		if got := p.ask(t); got != "b" {
			t.Errorf("Do() = %q after b is in use again", got)
		}
	})
}

func TestBrokenEndpointIsNotProbedWhileCordoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var next changing
		next.to(always(500, ""))
		e := endpoint(t, "node", next.answer)
		for range 5 {
			_, _ = e.Do(t.Context(), upstream.Request{})
		}
		synctest.Wait()
		e.Cordon()
		next.to(always(200, "{}"))
		asked := next.asked.Load()
		<-time.After(time.Minute)
		if next.asked.Load() != asked {
			t.Errorf("probed %d times while cordoned", next.asked.Load()-asked)
		}
		e.Uncordon()
		<-time.After(15 * time.Second)
		if _, err := e.Do(t.Context(), upstream.Request{}); err != nil {
			t.Errorf("Do() after that = %v, want an answer", err)
		}
	})
}
