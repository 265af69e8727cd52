package jsonrpc_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/internal/must"
	"crossgate/internal/pooltest"
	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

// An endpoint that answers nonsense has not recovered just because it answers.
func TestNonsenseIsNoRecovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var next pooltest.Changing
		next.To(ofChain("0x1", new(atomic.Int64)))
		var proofs atomic.Int64
		client := jsonrpc.New(upstream.NewPool("chain", pooltest.Endpoint(t, "node", next.Answer))).Proving("chain", chainProof(&proofs))
		var name string
		must.Do(t, client.Call(t.Context(), "web3_name", &name))
		next.To(pooltest.Always(200, "<html>"))
		for range 5 {
			_ = client.Call(t.Context(), "web3_name", &name)
		}
		synctest.Wait()
		for range 60 {
			if err := client.Call(t.Context(), "web3_name", &name); upstream.ClassOf(err) != upstream.BreakerOpen {
				t.Fatalf("Call() = %v, want the breaker's refusal", err)
			}
			<-time.After(time.Second)
		}
		next.To(ofChain("0x1", new(atomic.Int64)))
		<-time.After(15 * time.Second)
		if err := client.Call(t.Context(), "web3_name", &name); err != nil {
			t.Errorf("Call() when the node is one again = %v, want an answer", err)
		}
	})
}

// A lying endpoint is logged with its answer and without its URL, once a minute however often it lies.
func TestLiarIsNamedInTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines bytes.Buffer
		e := pooltest.Endpoint(t, "node", pooltest.Always(200, "<html>"), upstream.EndpointOptions{
			URL: "http://node.invalid/v2/aVerySecretKey", Logger: slog.New(slog.NewTextHandler(&lines, nil)),
		})
		client := jsonrpc.New(upstream.NewPool("chain", e))
		for range 3 {
			_ = client.Call(t.Context(), "eth_call", new(string))
		}
		if got := strings.Count(lines.String(), "endpoint=node"); got != 1 {
			t.Errorf("%d lines after three lies, want 1:\n%s", got, lines.String())
		}
		<-time.After(time.Minute)
		_ = client.Call(t.Context(), "eth_call", new(string))
		got := lines.String()
		if strings.Count(got, "endpoint=node") != 2 || !strings.Contains(got, "not a JSON-RPC response") || strings.Contains(got, "aVerySecretKey") {
			t.Errorf("log after another lie a minute later:\n%s\nwant two lines that say what was answered, and no key", got)
		}
	})
}
