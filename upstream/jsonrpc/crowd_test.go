package jsonrpc_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/internal/pooltest"
	"crossgate/internal/rpctest"
	"crossgate/upstream/jsonrpc"
)

// counting is an endpoint that limits calls per second, not requests, and refuses those beyond the limit, or the whole
// batch.
type counting struct {
	perSecond int
	isWhole   bool   // one call too many fails the whole batch
	words     string // of a refusal

	mu     sync.Mutex
	second time.Time
	used   int
}

func (c *counting) answer(r *http.Request) (*http.Response, error) {
	asked, err := rpctest.Read(r)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); now.Sub(c.second) >= time.Second {
		c.second, c.used = now, 0
	}
	if c.isWhole && c.used+len(asked.Calls) > c.perSecond {
		return pooltest.Answer(429, c.words), nil
	}
	return pooltest.Answer(200, asked.Answer(func(rpctest.Call) string {
		if c.used++; c.used > c.perSecond {
			return rpctest.Fault(429, c.words)
		}
		return `"result":"0x1"`
	})), nil
}

// TestBatchesShrinkWhereCallsAreCounted uses a single endpoint that counts the calls of batches: one with more calls
// than it accepts per second would never be answered whole, however long the pauses.
func TestBatchesShrinkWhereCallsAreCounted(t *testing.T) {
	for name, limited := range map[string]*counting{
		"call by call":            {perSecond: 5, words: "exceeded its compute units per second capacity"},
		"as a whole":              {perSecond: 5, isWhole: true, words: "Too Many Requests"},
		"as a whole, and said so": {perSecond: 5, isWhole: true, words: "batch exceeds the rate limit of 5 calls per second"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := rpc(t, limited.answer)
				began := time.Now()
				for lacking := 20; lacking > 0; {
					calls := make([]*jsonrpc.Call, lacking)
					for i := range calls {
						calls[i] = &jsonrpc.Call{Method: "eth_getBlockByNumber", Params: []any{fmt.Sprint(lacking, i)}, Out: new(string)}
					}
					client.Each(t.Context(), calls...)
					for _, call := range calls {
						if call.Err == nil {
							lacking--
						}
					}
					if time.Since(began) > time.Minute {
						t.Fatalf("%d of 20 calls are not answered after %v, in batches of %d",
							lacking, time.Since(began), client.Capabilities("a").Batch())
					}
				}
				if width := client.Capabilities("a").Batch(); width > 10 {
					t.Errorf("batches of %d calls are made, want what the endpoint takes", width)
				}
			})
		})
	}
}

// TestOneRefusalLeavesBatchesAsTheyAre simulates other clients that exhaust the shared key for a moment.
func TestOneRefusalLeavesBatchesAsTheyAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limited := &pooltest.Changing{}
		limited.To(says(`"result":"0x1"`))
		client := rpc(t, limited.Answer)
		ask := func() {
			calls, _ := echoed(make([]string, 20)...)
			_ = client.Batch(t.Context(), calls...) // may be refused
		}
		before := client.Capabilities("a").Batch()
		for range 3 {
			limited.To(pooltest.Always(429, "Too Many Requests"))
			ask()
			time.Sleep(2 * time.Second)
			limited.To(says(`"result":"0x1"`))
			ask()
		}
		if after := client.Capabilities("a").Batch(); after != before {
			t.Errorf("batches of %d calls are made, want %d as before", after, before)
		}
	})
}

// TestPartsThatAreAnsweredKeepPausesShort uses an endpoint that refuses part of each batch until batches are small
// enough: no pause is longer than a moment.
func TestPartsThatAreAnsweredKeepPausesShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []time.Time
		limited := counting{perSecond: 1, words: "too many requests"}
		client := rpc(t, func(r *http.Request) (*http.Response, error) {
			asked = append(asked, time.Now())
			return limited.answer(r)
		})
		for round := 0; client.Capabilities("a").Batch() > 1 && round < 20; round++ {
			calls := make([]*jsonrpc.Call, client.Capabilities("a").Batch())
			for i := range calls {
				calls[i] = &jsonrpc.Call{Method: "eth_call", Params: []any{round, i}, Out: new(string)}
			}
			_ = client.Batch(t.Context(), calls...) // part of it is answered
		}
		if len(asked) < 4 {
			t.Errorf("%d batches were made until single calls are, want several", len(asked))
		}
		for i := range len(asked) - 1 {
			if pause := asked[i+1].Sub(asked[i]); pause > 2*time.Second {
				t.Errorf("batch %d is made %v after the one before", i+2, pause)
			}
		}
	})
}
