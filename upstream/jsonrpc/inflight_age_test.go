package jsonrpc_test

import (
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

// An answer that has been under way for long may be as old, and may never come.
func TestOldFlightsAreNotJoined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hangs atomic.Bool
		hangs.Store(true)
		n := &slow{answers: node(echo)}
		all := callers{t: t, client: rpc(t, func(r *http.Request) (*http.Response, error) {
			if hangs.Swap(false) {
				return silent(r)
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
