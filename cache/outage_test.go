package cache

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"crossgate/cache/shared"
	"crossgate/internal/must"
	"crossgate/internal/redistest"
)

func disconnected(r *replica) func() bool { return func() bool { return !r.isConnected() } }

// TestKilledServers kills a server that has saved its data before a purge, so that it returns with old values.
func TestKilledServers(t *testing.T) {
	server := redistest.Serve(t)
	a, b := startReplicas(t, server.URL())
	a.ask(t, constant("old", hour))
	b.ask(t, unloaded(t))
	must.Get(server.Save())(t)
	a.Purge(Hard, named("key"))
	must.Await(t, "the purge to arrive", b.gone)
	b.ask(t, constant("value", hour))
	wantResult(t, "before", a.ask(t, unloaded(t)), "value", Hit, true)
	must.Do(t, server.Kill())
	must.Await(t, "the loss to be noticed", b.gone)
	got := must.Get(b.GetShared(t.Context(), named("key"), constant("alone", hour)))(t)
	wantResult(t, "at the loss: purges may have got lost", got, "value", Stale, false)
	b.settle()
	wantResult(t, "without a server", b.ask(t, unloaded(t)), "alone", Hit, false)
	a.Purge(Hard, named("tag a")) // which cannot be published
	must.Do(t, server.Resume())
	a.connected(t)
	b.connected(t)
	must.Await(t, "the purge from meanwhile", b.gone)
	// A replica that reconnects after the purge was published knows only that it may have missed one.
	if got := b.ask(t, constant("new", hour)); got.Value != "new" && got.Outcome != Stale {
		t.Errorf("afterwards: %s, want new, or what is being replaced by it", describe(got))
	}
	wantResult(t, "after that", b.ask(t, unloaded(t)), "new", Hit, false)
	wantResult(t, "the other, which may have missed purges", a.ask(t, unloaded(t)), "value", Stale, false)
	wantResult(t, "the other, after that", a.ask(t, unloaded(t)), "new", Hit, false)
}

// fewer is the condition that at most the given number of goroutines remain.
func fewer(most int) func() bool {
	return func() bool { return runtime.NumGoroutine() <= most }
}

// askMany reads count keys once each, concurrently, and waits for the answers.
func askMany(t *testing.T, r *replica, kind string, count int) {
	t.Helper()
	var asking sync.WaitGroup
	var wrong atomic.Int64
	for i := range count {
		asking.Go(func() {
			text := fmt.Sprint(kind, i)
			got, err := r.GetShared(context.Background(), named(text), constant(text, hour))
			if err != nil || got.Value != text {
				wrong.Add(1)
			}
		})
	}
	asking.Wait()
	if wrong.Load() > 0 {
		t.Errorf("%s: %d of %d answers are wrong", kind, wrong.Load(), count)
	}
	r.settle()
}

// hurried sets the timeouts of a deployment.
func hurried(_ *Options[string], on *shared.Options) { on.Timeout, on.Silence = 0, 2*time.Second }

// TestAServerThatHangsCostsNoAnswer pauses a server that has connections. All callers are answered, and no more calls
// are left than may be in flight at a time.
func TestAServerThatHangsCostsNoAnswer(t *testing.T) {
	server := redistest.Serve(t)
	r := startReplica(t, server.URL(), hurried).connected(t)
	askMany(t, r, "before ", 100)
	before := runtime.NumGoroutine()
	must.Do(t, server.Pause())
	const callers = 5000
	askMany(t, r, "during ", callers)
	const maxCalls = 256 // per callPolicy
	const probes = 50    // one a second, and those in flight when calls stopped
	must.Await(t, "calls to a server that hangs to end", fewer(before+maxCalls+probes))
	if _, _, err := r.shared.Spend(t.Context(), named("account"), 1, 1, 0); err == nil {
		t.Error("an account was charged by a server that hangs")
	}
	must.Await(t, "the loss to be noticed", disconnected(r))
	if state, ok := r.shared.Status(); ok {
		t.Errorf("Status() = %s, %v, want that it is not", state, ok)
	}
	askMany(t, r, "after ", callers)
	must.Await(t, "calls to end once the server is left alone", fewer(before+probes))
	must.Do(t, server.Continue())
	r.connected(t)
	askMany(t, r, "again ", 100)
}

// TestAServerThatNeverAnswersIsNone accepts connections without ever answering.
func TestAServerThatNeverAnswersIsNone(t *testing.T) {
	for _, scheme := range []string{"redis", "rediss"} {
		t.Run(scheme, func(t *testing.T) {
			address, taken := silence(t)
			r := startReplica(t, scheme+"://"+address, hurried)
			<-taken
			before := runtime.NumGoroutine()
			askMany(t, r, "hung ", 5000)
			must.Await(t, "calls to a server that says nothing to end", fewer(before+10))
			if r.isConnected() {
				t.Error("a server that never answered counts as connected")
			}
			r.stop()
		})
	}
}

// silence listens until the test ends; taken receives when a connection is accepted.
func silence(t *testing.T) (address string, taken <-chan struct{}) {
	t.Helper()
	listener := must.Get(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	connected := make(chan struct{}, 1)
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer conn.Close()
				select {
				case connected <- struct{}{}:
				default:
				}
				_, _ = new(bytes.Buffer).ReadFrom(conn)
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		serving.Wait()
	})
	return listener.Addr().String(), connected
}
