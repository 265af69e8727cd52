package upstream_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/upstream"
)

// Whatever callers do, they must not be able to take an endpoint away from others: thousands of them leave
// early, hurry, ask for what is not there, for what is too large, for what reverts and for what makes no sense.
func TestCallersCannotOpenABreaker(t *testing.T) {
	const each = 500
	long := transport(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Body: io.NopCloser(neverEnding{})}, nil
	})
	rejects := func(code int, message string) transport {
		return node(func(rpcCall) string { return fmt.Sprintf(`"error":{"code":%d,"message":%q}`, code, message) })
	}
	noRoute := func(upstream.Response) error {
		return &upstream.Error{Class: upstream.Rejected, Err: errors.New("no route")}
	}
	attacks := map[string]struct {
		answers transport
		attack  func(context.Context, *upstream.Pool)
	}{
		"leave early": {silent, func(ctx context.Context, p *upstream.Pool) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(rand.N(9*time.Second), cancel)
			_, _ = p.Do(ctx, upstream.Request{}, nil)
		}},
		"hurry": {silent, func(ctx context.Context, p *upstream.Pool) {
			ctx, cancel := context.WithTimeout(ctx, rand.N(400*time.Millisecond))
			defer cancel()
			_, _ = p.Do(ctx, upstream.Request{}, nil)
		}},
		"ask for what is not there":  {always(404, "{}"), get(nil)},
		"ask what is not allowed":    {always(403, "<html>"), get(nil)},
		"ask what makes no sense":    {always(400, `{"message":"absurd amount"}`), get(nil)},
		"ask too much at once":       {always(413, ""), get(nil)},
		"ask for too long an answer": {long, get(nil)},
		"find no route":              {always(200, "{}"), get(noRoute)},
		"ask too often":              {always(429, "", "Retry-After", "1"), get(nil)},
		"revert":                     {rejects(3, "execution reverted"), call("eth_call", "0x")},
		"send absurd parameters":     {rejects(-32602, "invalid argument 0"), call("eth_call", "nonsense")},
		"send what JSON cannot hold": {node(echo), call("eth_call", func() {})},
		"search too wide":            {rejects(-32005, "query returned more than 10000 results"), call("eth_getLogs", "0x")},
		"ask for what is pruned":     {rejects(-32000, "missing trie node"), call("eth_call", "0x")},
	}
	for name, test := range attacks {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var next changing
				next.to(test.answers)
				e := endpoint(t, "node", next.answer, upstream.EndpointOptions{MaxBody: 1 << 10})
				pool := upstream.NewPool("pool", e)
				var callers sync.WaitGroup
				for range each {
					callers.Go(func() { test.attack(t.Context(), pool) })
				}
				callers.Wait()
				next.to(node(echo))
				<-time.After(2 * time.Second) // a pause that the endpoint asked for itself
				var got string
				if err := upstream.NewRPC(pool).Call(t.Context(), "eth_call", &got, "0x1"); err != nil || got != "0x1" {
					t.Errorf("the next caller has %q, %v, want an answer", got, err)
				}
			})
		})
	}
}

func get(check func(upstream.Response) error) func(context.Context, *upstream.Pool) {
	return func(ctx context.Context, p *upstream.Pool) {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		_, _ = p.Do(ctx, upstream.Request{}, check)
	}
}

func call(method string, params ...any) func(context.Context, *upstream.Pool) {
	return func(ctx context.Context, p *upstream.Pool) {
		_ = upstream.NewRPC(p).Call(ctx, method, new(string), params...)
	}
}

// Some services fail inside on absurd requests, hang, break the connection or answer with a page. Nobody else may
// notice, however many such requests there are, whoever asked first, and whether they are alike or not.
func TestPoisonHoldsNobodyOff(t *testing.T) {
	poisons := map[string]transport{
		"fails inside":  always(500, "panic: runtime error"),
		"is overloaded": always(503, ""),
		"hangs":         silent,
		"breaks off":    func(*http.Request) (*http.Response, error) { return nil, errors.New("connection reset by peer") },
		"shows a page":  always(200, "<html>internal error</html>"),
		"redirects":     always(302, ""),
	}
	for name, poison := range poisons {
		for _, known := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, sound questions known: %v", name, known), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { attackWith(t, poison, known) })
			})
		}
	}
}

// attackWith has one endpoint of a service answer absurd requests with poison, and wants all others answered.
func attackWith(t *testing.T, poison transport, known bool) {
	e := endpoint(t, "venue", func(r *http.Request) (*http.Response, error) {
		if r.URL.Query().Has("absurd") {
			return poison(r)
		}
		return answer(200, "{}"), nil
	})
	pool := upstream.NewPool("venue", e)
	isObject := func(r upstream.Response) error {
		if string(r.Body) != "{}" {
			return errors.New("no JSON")
		}
		return nil
	}
	sound := func() error {
		_, err := pool.Do(t.Context(), upstream.Request{Path: "quote"}, isObject)
		return err
	}
	if known {
		if err := sound(); err != nil {
			t.Fatal(err)
		}
	}
	for wave := range 20 {
		var callers sync.WaitGroup
		for i := range 50 {
			callers.Go(func() {
				absurd := upstream.Request{Query: map[string][]string{"absurd": {fmt.Sprint(wave % 2 * i)}}}
				_, _ = pool.Do(t.Context(), absurd, isObject)
			})
		}
		callers.Wait()
		for range 5 {
			if err := sound(); err != nil {
				t.Fatalf("wave %d: another caller has %v, want an answer", wave, err)
			}
			<-time.After(700 * time.Millisecond)
		}
	}
}

// What a caller asks today may fail tomorrow. It is no proof against the endpoint as long as others are answered,
// or while nothing is known but what one caller asked.
func TestQuestionThatTurnsToPoisonHoldsNobodyOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var turned atomic.Bool
		e := endpoint(t, "venue", func(r *http.Request) (*http.Response, error) {
			if turned.Load() && r.URL.Path == "/quote" {
				return answer(500, ""), nil
			}
			return answer(404, "{}"), nil
		})
		bait := func() error { _, err := e.Do(t.Context(), upstream.Request{Path: "quote"}); return err }
		if err := bait(); err != nil {
			t.Fatal(err)
		}
		turned.Store(true)
		for range 100 {
			_ = bait()
			<-time.After(100 * time.Millisecond)
		}
		if _, err := e.Do(t.Context(), upstream.Request{Path: "price"}); err != nil {
			t.Errorf("another caller has %v, want an answer", err)
		}
	})
}

// To look into failures takes little of what an endpoint lets us ask.
func TestPoisonCostsFewRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var own int
		e := endpoint(t, "venue", func(r *http.Request) (*http.Response, error) {
			if r.URL.Query().Has("absurd") {
				return answer(500, ""), nil
			}
			own++
			return answer(200, "{}"), nil
		})
		for range 600 { // a minute
			_, _ = e.Do(t.Context(), upstream.Request{Query: map[string][]string{"absurd": {"1"}}})
			<-time.After(100 * time.Millisecond)
		}
		if own > 15 {
			t.Errorf("%d requests of our own within a minute, want one in five seconds or so", own)
		}
	})
}

// A service that comes back is asked again as soon as a caller was told it would be.
func TestRetryAfterIsWhenTheEndpointIsProbed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var next changing
		next.to(always(503, ""))
		e := endpoint(t, "node", next.answer)
		for range 5 {
			_, _ = e.Do(t.Context(), upstream.Request{})
		}
		synctest.Wait()
		<-time.After(2500 * time.Millisecond)
		next.to(always(200, "{}"))
		_, err := e.Do(t.Context(), upstream.Request{})
		var refused *upstream.Error
		if !errors.As(err, &refused) || refused.Class != upstream.BreakerOpen || refused.RetryAfter > 2*time.Second {
			t.Fatalf("Do() = %v, want a refusal for two seconds at most", err)
		}
		<-time.After(refused.RetryAfter)
		synctest.Wait()
		if _, err := e.Do(t.Context(), upstream.Request{}); err != nil {
			t.Errorf("Do() after %v, as told = %v, want an answer", refused.RetryAfter, err)
		}
	})
}

// Who answers nonsense has not recovered because it answers.
func TestNonsenseIsNoRecovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var next changing
		next.to(ofChain("0x1", new(atomic.Int64)))
		var proofs atomic.Int64
		client := upstream.NewRPC(upstream.NewPool("chain", endpoint(t, "node", next.answer))).Proving(chainProof(&proofs))
		var name string
		if err := client.Call(t.Context(), "web3_name", &name); err != nil {
			t.Fatal(err)
		}
		next.to(always(200, "<html>"))
		for range 5 {
			_ = client.Call(t.Context(), "web3_name", &name)
		}
		synctest.Wait()
		for range 60 {
			if err := client.Call(t.Context(), "web3_name", &name); classOf(err) != upstream.BreakerOpen {
				t.Fatalf("Call() = %v, want the breaker's refusal", err)
			}
			<-time.After(time.Second)
		}
		next.to(ofChain("0x1", new(atomic.Int64)))
		<-time.After(15 * time.Second)
		if err := client.Call(t.Context(), "web3_name", &name); err != nil {
			t.Errorf("Call() when the node is one again = %v, want an answer", err)
		}
	})
}

// A liar is named in the log, with what it said and without its URL, and once a minute however often it lies.
func TestLiarIsNamedInTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines bytes.Buffer
		e := endpoint(t, "node", always(200, "<html>"), upstream.EndpointOptions{
			URL: "http://node.invalid/v2/aVerySecretKey", Logger: slog.New(slog.NewTextHandler(&lines, nil)),
		})
		client := upstream.NewRPC(upstream.NewPool("chain", e))
		for range 3 {
			_ = client.Call(t.Context(), "eth_call", new(string))
		}
		if got := strings.Count(lines.String(), "endpoint=node"); got != 1 {
			t.Errorf("%d lines after three lies, want 1:\n%s", got, lines.String())
		}
		<-time.After(time.Minute)
		_ = client.Call(t.Context(), "eth_call", new(string))
		got := lines.String()
		if strings.Count(got, "endpoint=node") != 2 || !strings.Contains(got, "not a JSON-RPC answer") || strings.Contains(got, "aVerySecretKey") {
			t.Errorf("log after another lie a minute later:\n%s\nwant two lines that say what was answered, and no key", got)
		}
	})
}

// What an honest endpoint cannot help is no lie.
func TestFailuresAreNotNamedAsLies(t *testing.T) {
	var lines bytes.Buffer
	for _, status := range []int{400, 404, 429, 500, 503} {
		e := endpoint(t, "node", always(status, ""), upstream.EndpointOptions{Logger: slog.New(slog.NewTextHandler(&lines, nil))})
		_, _ = e.Do(t.Context(), upstream.Request{})
	}
	if lines.Len() > 0 {
		t.Errorf("log after honest failures:\n%s\nwant none", lines.String())
	}
}
