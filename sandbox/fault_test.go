package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
)

// ask sends eth_chainId to a chain's endpoint.
func ask(ctx context.Context, url string) (*http.Response, error) {
	body := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}`)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	return http.DefaultClient.Do(r)
}

func inject(t *testing.T, w *World, target string, f Fault) {
	t.Helper()
	if err := w.Inject(target, f); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Inject(target, Fault{Kind: NoFault}); err != nil {
			t.Error(err)
		}
	})
}

func TestDownBreaksTheConnectionUntilItEnds(t *testing.T) {
	w := grown(t)
	url := w.Chains()[0].RPC
	inject(t, w, "1", Fault{Kind: Down})
	if answered, err := ask(t.Context(), url); err == nil {
		answered.Body.Close()
		t.Errorf("an endpoint that is down answered %s", answered.Status)
	}
	inject(t, w, "1", Fault{Kind: NoFault})
	if status, _ := request(t, http.MethodPost, url, map[string]any{"jsonrpc": "2.0", "id": 1, "method": "eth_chainId"}); status != http.StatusOK {
		t.Errorf("an endpoint that is up again answered %d", status)
	}
}

func TestLimitedSaysWhenToComeBack(t *testing.T) {
	w := grown(t)
	inject(t, w, "137", Fault{Kind: Limited, RetryAfter: 7 * time.Second, Requests: 1})
	for _, want := range []struct {
		status int
		after  string
	}{{http.StatusTooManyRequests, "7"}, {http.StatusOK, ""}} {
		answered, err := ask(t.Context(), w.Chains()[1].RPC)
		if err != nil {
			t.Fatal(err)
		}
		answered.Body.Close()
		if answered.StatusCode != want.status || answered.Header.Get("Retry-After") != want.after {
			t.Errorf("answer = %d, Retry-After %q, want %d, %q", answered.StatusCode, answered.Header.Get("Retry-After"), want.status, want.after)
		}
	}
}

func TestWrongAnswersWithSomethingElse(t *testing.T) {
	w := grown(t)
	c := w.Chains()[2]
	asked := map[string]any{"jsonrpc": "2.0", "id": 1, "method": "eth_chainId"}
	for as, want := range map[string]string{"": "<html>", AsHTML: "<html>", AsGarbage: `{"jsonrpc"`, AsChain: strangeChainID} {
		inject(t, w, "8453", Fault{Kind: Wrong, As: as})
		status, body := request(t, http.MethodPost, c.RPC, asked)
		if status != http.StatusOK || !strings.Contains(string(body), want) {
			t.Errorf("wrong as %q: %d %s, want 200 with %s", as, status, body, want)
		}
	}
	inject(t, w, "8453", Fault{Kind: Wrong, As: AsChain}) // everything but the id is true
	var head string
	rpcResult(t, c, &head, "eth_blockNumber")
	if head == "" {
		t.Error("no block number")
	}
	batch := []any{asked, map[string]any{"jsonrpc": "2.0", "id": 2, "method": "eth_blockNumber"}}
	status, body := request(t, http.MethodPost, c.RPC, batch)
	var answers []struct {
		ID     int
		Result string
	}
	if err := json.Unmarshal(body, &answers); err != nil || status != http.StatusOK || len(answers) != 2 {
		t.Fatalf("a batch to another chain: %d %s", status, body)
	}
	for _, a := range answers {
		if want := map[int]string{1: strangeChainID, 2: head}[a.ID]; a.Result != want {
			t.Errorf("call %d of a batch answers %s, want %s", a.ID, a.Result, want)
		}
	}
}

func TestSlowHoldsRequestsBack(t *testing.T) {
	w := grown(t)
	url := w.Chains()[3].RPC
	inject(t, w, "100000014", Fault{Kind: Slow, Delay: time.Hour})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if answered, err := ask(ctx, url); !errors.Is(err, context.DeadlineExceeded) {
		if err == nil {
			answered.Body.Close()
		}
		t.Errorf("asking a slow endpoint: %v, want the deadline", err)
	}
	inject(t, w, "100000014", Fault{Kind: Slow, Delay: 20 * time.Millisecond})
	begun := time.Now()
	if status, _ := request(t, http.MethodPost, url, map[string]any{"jsonrpc": "2.0", "id": 1, "method": "eth_chainId"}); status != http.StatusOK {
		t.Errorf("a slow endpoint answered %d", status)
	}
	if took := time.Since(begun); took < 20*time.Millisecond {
		t.Errorf("a slow endpoint answered after %s, want at least 20ms", took)
	}
}

func TestFaultsNeedAKnownTargetAndKind(t *testing.T) {
	w := open(t, Options{})
	for _, tt := range []struct {
		target string
		fault  Fault
	}{
		{"2", Fault{Kind: Down}},
		{"1", Fault{Kind: "tired"}},
		{"1", Fault{Kind: Wrong, As: "poem"}},
		{"1", Fault{Kind: Slow, Delay: -1}},
	} {
		if err := w.Inject(tt.target, tt.fault); err == nil {
			t.Errorf("Inject(%s, %+v) succeeded", tt.target, tt.fault)
		}
	}
	for _, target := range []string{"kyberswap", "velora", "openocean", "defillama", "1"} {
		if err := w.Inject(target, Fault{Kind: Down}); err != nil {
			t.Errorf("Inject(%s): %v", target, err)
		}
	}
}
