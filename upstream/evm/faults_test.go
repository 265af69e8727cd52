package evm_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/trace"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/internal/pooltest"
	"crossgate/internal/rpctest"
	"crossgate/order"
	"crossgate/order/follow"
	"crossgate/order/query"
	"crossgate/store"
	"crossgate/upstream"
	"crossgate/upstream/evm"
	"crossgate/upstream/jsonrpc"
)

// faulty is a provider that fails a share of its HTTP requests, in every transient way. Whether a request fails depends
// on its content and how often it was repeated, not on concurrent requests.
type faulty struct {
	name  string
	node  http.Handler
	share float64
	seed  uint64

	mu    sync.Mutex
	asked map[uint64]uint64 // requests by content
	calls int               // JSON-RPC calls, including failed ones
}

// answer is the transport.
func (f *faulty) answer(r *http.Request) (*http.Response, error) {
	if r.Body == nil { // a probe
		return pooltest.Answer(http.StatusMethodNotAllowed, ""), nil
	}
	asked, err := rpctest.Read(r)
	if err != nil {
		return nil, err
	}
	random := f.note(asked.Calls)
	if random.Float64() >= f.share {
		return pooltest.Near(f.node)(r)
	}
	switch random.IntN(5) {
	case 0:
		return pooltest.Answer(http.StatusOK, "<html><body>Just a moment...</body></html>"), nil
	case 1:
		return pooltest.Answer(http.StatusOK, asked.Answer(func(rpctest.Call) string { return rpctest.Fault(-32603, "Internal error") })), nil
	case 2:
		return pooltest.Answer(http.StatusTooManyRequests, ""), nil
	case 3:
		return nil, errors.New("connection reset by peer")
	default:
		return pooltest.Answer(http.StatusInternalServerError, ""), nil
	}
}

// note counts calls, and returns the random source that decides their fate.
func (f *faulty) note(calls []rpctest.Call) *rand.Rand {
	asked := fnv.New64a()
	fmt.Fprintln(asked, f.name)
	for _, c := range calls {
		fmt.Fprintf(asked, "%s %s\n", c.Method, c.Params)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls += len(calls)
	f.asked[asked.Sum64()]++
	return rand.New(rand.NewPCG(f.seed+f.asked[asked.Sum64()]<<32, asked.Sum64()))
}

// failing puts a provider that fails a share of its requests in front of a node, as the only endpoint of a pool.
func failing(t *testing.T, name string, node http.Handler, share float64, seed uint64) (*jsonrpc.Client, *faulty) {
	t.Helper()
	f := &faulty{name: name, node: node, share: share, seed: seed, asked: map[uint64]uint64{}}
	e := pooltest.Endpoint(t, name, f.answer, upstream.EndpointOptions{Timeout: 5 * time.Second})
	return jsonrpc.New(upstream.NewPool(name, e)), f
}

// TestFailuresThatPassAreHidden looks up unknown orders, one after the other and concurrently, on chains with a single
// endpoint each, which fails a share of its requests. CROSSGATE_SEEDS sets the number of courses of each kind.
func TestFailuresThatPassAreHidden(t *testing.T) {
	recordings, truth := readRecordings(t), readTruth(t)
	const lookups = 75
	// Lookups share calls: one that fails too often, or three refusals in a row, fail some ten of them.
	for share, least := range map[float64]int{0.05: lookups, 0.2: lookups - 15} {
		for _, atOnce := range []int{1, lookups} {
			for seed := range fromEnvironment(t, "CROSSGATE_SEEDS", 1) {
				t.Run(fmt.Sprintf("share %v, at once %d, seed %d", share, atOnce, seed+1), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						find := coldLookups(t, recordings, share, seed+1)
						var found atomic.Int64
						var working sync.WaitGroup
						slots := make(chan struct{}, atOnce)
						for i := range lookups {
							slots <- struct{}{}
							working.Go(func() {
								defer func() { <-slots }()
								want := truth.Orders[i%len(truth.Orders)]
								if err := find(want.CreationTxHash); err != nil {
									t.Logf("order %s: %v", want.OrderID, err)
									return
								}
								found.Add(1)
							})
						}
						working.Wait()
						if int(found.Load()) < least {
							t.Errorf("%d of %d lookups are answered, want %d", found.Load(), lookups, least)
						}
					})
				})
			}
		}
	}
}

// coldLookups returns a function that looks up a transaction as a gateway with an empty index does, within the time
// that a gateway allows.
func coldLookups(t *testing.T, recordings []*recording, share float64, seed uint64) (find func(chain.TxHash) error) {
	t.Helper()
	sources := map[chain.ID]order.Source{}
	var registry []chain.Chain
	for _, r := range recordings {
		described := r.describe()
		rpc, _ := failing(t, described.ID.String(), r.node(), share, seed)
		registry, sources[described.ID] = append(registry, described), evm.New(described, rpc)
	}
	db := must.Get(store.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "orders.db")))(t)
	must.Do(t, db.Close()) // a store that cannot be read knows nothing
	x := query.New(follow.New(db, sources, follow.Options{Chains: chain.NewRegistry(registry...), Logger: slog.New(slog.DiscardHandler)}), query.Options{})
	var lookups atomic.Uint64
	return func(tx chain.TxHash) error {
		id := trace.TraceID(binary.BigEndian.AppendUint64(make([]byte, 8), lookups.Add(1)))
		traced := trace.ContextWithSpanContext(t.Context(), trace.NewSpanContext(trace.SpanContextConfig{TraceID: id, SpanID: trace.SpanID{1}}))
		ctx, cancel := context.WithTimeout(traced, 12*time.Second)
		defer cancel()
		_, _, err := x.Find(ctx, tx)
		return err
	}
}

// TestFollowerRepeatsOnlyWhatFailed follows growing chains, each through a single endpoint that fails a fifth of its
// requests: proving everything takes at most three times the calls that it takes without failures.
func TestFollowerRepeatsOnlyWhatFailed(t *testing.T) {
	recordings := readRecordings(t)
	usual := callsToFollow(t, recordings, 0, 1)
	for seed := range fromEnvironment(t, "CROSSGATE_SEEDS", 1) {
		for id, calls := range callsToFollow(t, recordings, 0.2, seed+1) {
			t.Logf("seed %d: chain %d: %d calls, %d without failures", seed+1, id, calls, usual[id])
			if calls > 3*usual[id] {
				t.Errorf("seed %d: following chain %d took %d calls, %d without failures", seed+1, id, calls, usual[id])
			}
		}
	}
}

// callsToFollow counts, by chain, the calls needed to follow the recordings if a share of HTTP requests fails.
func callsToFollow(t *testing.T, recordings []*recording, share float64, seed uint64) map[chain.ID]int {
	t.Helper()
	calls := map[chain.ID]int{}
	synctest.Test(t, func(t *testing.T) {
		sources, providers, heads := map[chain.ID]order.Source{}, map[chain.ID]*faulty{}, map[chain.ID]uint64{}
		var registry []chain.Chain
		for _, recorded := range recordings {
			heads[recorded.DeBridgeID] = recorded.Head
			described := recorded.describe()
			node := &provider{recording: recorded.growing(), random: rand.New(rand.NewPCG(seed, recorded.ChainID))}
			rpc, f := failing(t, described.ID.String(), node, share, seed)
			registry = append(registry, described)
			sources[described.ID], providers[described.ID] = evm.New(described, rpc), f
		}
		db := must.Get(store.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "orders.db")))(t)
		x := query.New(follow.New(db, sources, follow.Options{
			Chains: chain.NewRegistry(registry...), Pace: follow.Pace{Asked: time.Second}, Logger: slog.New(slog.DiscardHandler),
		}), query.Options{})
		stop := runIndex(t, x)
		for ticks := time.Tick(time.Second); len(calls) < len(recordings); <-ticks {
			for _, c := range x.Basis().Chains {
				if _, isOver := calls[c.Chain]; !isOver && x.Of(c.Chain).State().Position.ProvenEnd > heads[c.Chain] {
					calls[c.Chain] = providers[c.Chain].made()
				}
			}
		}
		stop()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return calls
}

// made returns the number of calls so far.
func (f *faulty) made() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}
