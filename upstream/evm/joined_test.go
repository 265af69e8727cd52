package evm_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/chain"
	"crossgate/upstream/evm"
)

// far is a node with a latency of one second.
type far struct{ *node }

func (f far) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	<-time.After(time.Second)
	f.node.ServeHTTP(w, r)
}

// wantEvents reads the events of a transaction, and fails if there are none.
func wantEvents(ctx context.Context, t *testing.T, c *evm.Chain, tx chain.TxHash) {
	t.Helper()
	if got, err := c.EventsIn(ctx, tx); err != nil || len(got.Events) == 0 {
		t.Errorf("EventsIn(%s) = %d events, %v", tx, len(got.Events), err)
	}
}

// A range's last block proves that an endpoint has the range's logs only if the same endpoint returned both.
func TestLogsComeWithTheirOwnProof(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(1000)
		c := serveAll(t, testChain, far{n})
		var asking sync.WaitGroup
		for range 2 {
			asking.Go(func() {
				if got, err := c.Block(t.Context(), 600); err != nil || got.Number != 600 {
					t.Errorf("Block(600) = %v, %v", got, err)
				}
			})
		}
		synctest.Wait()
		for range 2 {
			asking.Go(func() {
				if _, err := c.Events(t.Context(), 400, 600); err != nil {
					t.Errorf("Events() = %v", err)
				}
			})
		}
		asking.Wait()
		if n.methods["eth_getBlockByNumber"] != 2 || n.methods["eth_getLogs"] != 1 {
			t.Errorf("calls %v, want the block once for itself and once with its logs", n.methods)
		}
	})
}

// A head is how others notice that something has happened: it must not be older than the request.
func TestHeadIsAlwaysAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(1000)
		c := serveAll(t, testChain, far{n})
		var asking sync.WaitGroup
		for range 2 {
			asking.Go(func() {
				if got, err := c.Head(t.Context()); err != nil || got.Latest.Number != 1000 {
					t.Errorf("Head() = %+v, %v, want block 1000", got, err)
				}
			})
		}
		asking.Wait()
		if trips := n.trips(); trips != 2 {
			t.Errorf("two questions for the head took %d round trips, want 2", trips)
		}
	})
}

// A call made before a new block was known does not answer one made after it, which may have been made because of it.
func TestNewBlockOutdatesWhatIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		terms, _ := delivery()
		n := newNode(1000)
		tx := n.add(t, 500, true, fulfilledLog(t, terms))
		c := serveAll(t, testChain, far{n})
		for _, test := range []struct {
			head  uint64
			calls int
		}{{1000, 2}, {1000, 1}, {1001, 2}} {
			n.head, n.methods = test.head, nil
			var asking sync.WaitGroup
			asking.Go(func() {
				if got, err := c.Head(t.Context()); err != nil || got.Latest.Number != test.head {
					t.Errorf("Head() = %+v, %v, want block %d", got, err, test.head)
				}
			})
			<-time.After(500 * time.Millisecond)
			asking.Go(func() { wantEvents(t.Context(), t, c, tx) })
			<-time.After(750 * time.Millisecond) // the new head has arrived
			asking.Go(func() { wantEvents(t.Context(), t, c, tx) })
			asking.Wait()
			if n.methods["eth_getTransactionReceipt"] != test.calls {
				t.Errorf("%d calls for a receipt when the head was %d, want %d", n.methods["eth_getTransactionReceipt"], test.head, test.calls)
			}
		}
	})
}

// late is a node whose answers take the time by to arrive.
type late struct {
	*node
	by time.Duration
}

func (l *late) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	by, answer := l.by, httptest.NewRecorder()
	l.node.ServeHTTP(answer, r)
	<-time.After(by)
	_, _ = answer.Body.WriteTo(w) // which is another recorder
}

// A block that arrives after the head of another branch is not remembered: a follower would list the logs of a block
// that is gone, and find no receipts for them, until the chain's next head.
func TestABlockOfABranchThatIsGoneIsNotRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(1000)
		n.answers["eth_getLogs"] = `"result":[]`
		l := &late{n, time.Second}
		c := serveAll(t, testChain, l)
		head := func() {
			if got, err := c.Head(t.Context()); err != nil || got.Latest.Number != 1000 {
				t.Errorf("Head() = %+v, %v, want block 1000", got, err)
			}
		}
		head()
		l.by = 5 * time.Second
		var asking sync.WaitGroup
		asking.Go(func() {
			if _, err := c.Block(t.Context(), 999); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait() // the old block is in flight
		n.forked, l.by = 998, time.Second
		head()
		asking.Wait()
		if _, err := c.Events(t.Context(), 998, 1000); err != nil {
			t.Errorf("Events() = %v, want those of the branch that is there", err)
		}
		if got, err := c.Block(t.Context(), 1000); err != nil || got.Hash.String() != n.hash(1000) {
			t.Errorf("Block(1000) = %v, %v, want %s", got, err, n.hash(1000))
		}
	})
}
