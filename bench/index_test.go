package bench

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/follow"
	"crossgate/order/query"
	"crossgate/proxy/wire"
	"crossgate/store"
)

// BenchmarkIngest follows two chains of 20 000 orders, 76 000 events, into an empty SQLite file: it decodes logs, folds
// orders and commits ranges. decoded passes the logs in memory; rpc reads logs and receipts from a node on this
// machine, over HTTP, through the adapter of EVM chains. It also reports events per second of processor time, which
// other users of the machine do not affect; with rpc that includes the node's own work.
func BenchmarkIngest(b *testing.B) {
	orders := size(20_000, 2000)
	give, take := &ledger{id: giveChain, orders: orders}, &ledger{id: takeChain, orders: orders}
	b.Run("decoded", func(b *testing.B) {
		ingest(b, give.store()+take.store(), map[chain.ID]order.Source{giveChain: give, takeChain: take})
	})
	b.Run("rpc", func(b *testing.B) {
		ingest(b, give.count()+take.count(), map[chain.ID]order.Source{giveChain: give.serve(b), takeChain: take.serve(b)})
	})
}

func ingest(b *testing.B, events int, sources map[chain.ID]order.Source) {
	used := spent(b)
	b.ResetTimer()
	for b.Loop() {
		path := filepath.Join(b.TempDir(), "orders.db")
		if _, store := fill(b, path, sources); store.Close() != nil {
			b.Fatal("the store does not close")
		}
	}
	used = spent(b) - used
	b.ReportMetric(float64(events)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64(events)*float64(b.N)/used.Seconds(), "events/cpu-s")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkLocked requests what is locked for a taker with 5000 locked orders, among growing numbers of others, and
// writes the answer, without any cache. It reports the median. The stores have every event of every order. A million
// orders take minutes to write, ten million half an hour and 31 GB, so these only run if CROSSGATE_BENCH_DIR is a
// directory, which keeps the stores for the next time. An interrupted fill resumes where it stopped.
func BenchmarkLocked(b *testing.B) {
	sizes := []uint64{size(100_000, 2*waiting)}
	if os.Getenv(directoryVariable) != "" {
		sizes = append(sizes, 1_000_000, 10_000_000)
	}
	for _, orders := range sizes {
		b.Run(strconv.FormatUint(orders, 10), func(b *testing.B) { locked(b, orders) })
	}
}

func locked(b *testing.B, orders uint64) {
	path := storeOf(b, orders)
	x, store := fill(b, path, ledgers(orders))
	defer store.Close()
	encoder := wire.Encoder{Chains: chain.Documented()}
	var body []byte
	var times []time.Duration
	b.ReportAllocs()
	for b.Loop() {
		begun := time.Now()
		locked, _, err := x.Locked(b.Context(), busyTaker)
		if err != nil || count(locked) != waiting {
			b.Fatalf("%d orders are locked, %v, want %d", count(locked), err, waiting)
		}
		body = encoder.AppendLocked(body[:0], locked, wire.Worth{})
		times = append(times, time.Since(begun))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "ms-median")
	facts := must.Get(os.Stat(path))(b)
	b.ReportMetric(float64(facts.Size())/float64(orders), "store-B/order")
}

// directoryVariable is the directory that keeps stores for the next time.
const directoryVariable = "CROSSGATE_BENCH_DIR"

// storeOf returns the path of a store of a number of orders, which may not exist yet.
func storeOf(b *testing.B, orders uint64) (path string) {
	b.Helper()
	directory := os.Getenv(directoryVariable)
	if directory == "" {
		directory = b.TempDir()
	}
	return filepath.Join(directory, fmt.Sprintf("orders-%d.db", orders))
}

// ledgers returns the two chains of a number of orders.
func ledgers(orders uint64) map[chain.ID]order.Source {
	return map[chain.ID]order.Source{
		giveChain: &ledger{id: giveChain, orders: orders}, takeChain: &ledger{id: takeChain, orders: orders},
	}
}

func count(locked []order.LockedChain) int {
	orders := 0
	for _, c := range locked {
		for _, t := range c.Tokens {
			for _, d := range t.Targets {
				orders += len(d.Orders)
			}
		}
	}
	return orders
}

// fill follows chains into the store at path until it is level with them.
func fill(b *testing.B, path string, sources map[chain.ID]order.Source) (*query.Index, *store.DB) {
	b.Helper()
	store := must.Get(store.OpenSQLite(b.Context(), path))(b)
	x := query.New(follow.New(store, sources, follow.Options{
		Chains: chain.Documented(), Range: 100, Pace: follow.Pace{Asked: time.Millisecond}, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}), query.Options{})
	ctx, stop := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- x.Run(ctx) }()
	for tick := time.Tick(time.Millisecond); !level(x); {
		<-tick
	}
	stop()
	must.Do(b, <-ended)
	return x, store
}

func level(x *query.Index) bool {
	for _, c := range x.Basis().Chains {
		if c.Level.IsZero() {
			return false
		}
	}
	return true
}
