package bench

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/index"
	"crossgate/store"
	"crossgate/upstream"
	"crossgate/upstream/evm"
	"crossgate/upstream/jsonrpc"
)

// BenchmarkBackfill reads the history of two chains from nodes that search 5,000 blocks at once, and counts what it
// asks for 1,000 orders: calls, as providers bill them, and the HTTP requests that they were made in. Orders are some
// blocks apart, as on a busy, an ordinary and a quiet chain, and are unlocked ten by one message. Nodes tell the
// times of logs' blocks or, old ones, do not: there it counts how blocks follow each other. Of three nodes the last may
// be the only one that does.
func BenchmarkBackfill(b *testing.B) {
	for _, apart := range []uint64{8, 40, 400} {
		b.Run(fmt.Sprintf("apart=%d", apart), func(b *testing.B) { backfill(b, apart, paces[0], false) })
		for _, p := range paces {
			b.Run(fmt.Sprintf("apart=%d,old,%s", apart, p.name), func(b *testing.B) { backfill(b, apart, p, true) })
			b.Run(fmt.Sprintf("apart=%d,two of three old,%s", apart, p.name), func(b *testing.B) { backfill(b, apart, p, true, true, false) })
		}
	}
}

// pace is how a chain's blocks follow each other.
type pace struct {
	name    string
	usual   time.Duration
	spacing chain.Spacing              // that its consensus enforces
	step    func(number uint64) uint64 // seconds from the block before
}

var paces = []pace{
	{"derived", blockTime, chain.Spacing{Least: 2}, func(uint64) uint64 { return 2 }}, // as the OP Stack has it
	{"slots", 12 * time.Second, chain.Spacing{Least: 12}, func(number uint64) uint64 { // as since the Merge, one of 100 is missed
		if shareOf(number) < 1 {
			return 24
		}
		return 12
	}},
	{"free", blockTime, chain.Spacing{}, func(number uint64) uint64 { return 1 + shareOf(number)%3 }}, // 1 to 3 s
}

// shareOf is between 0 and 99, all over the place.
func shareOf(number uint64) uint64 {
	h := spread(number)
	return binary.BigEndian.Uint64(h[:8]) % 100
}

// times are those of blocks up to a number.
func (p pace) times(newest uint64) []uint64 {
	times := []uint64{1_700_000_000}
	for number := uint64(1); number <= newest; number++ {
		times = append(times, times[number-1]+p.step(number))
	}
	return times
}

// backfill reads chains with one node for each of old, which says whether it tells the times of logs.
func backfill(b *testing.B, apart uint64, p pace, old ...bool) {
	orders := size(1000, 100)
	var calls, requests int
	for b.Loop() {
		sources, nodes := map[chain.ID]order.Source{}, []*counted{}
		for _, id := range []chain.ID{giveChain, takeChain} {
			l := &ledger{id: id, orders: orders, apart: apart, joint: 10}
			l.times = p.times(l.newest())
			own := newCounted(l, old)
			nodes = append(nodes, own...)
			sources[id] = serveCounted(b, p, own)
		}
		db, err := store.OpenSQLite(b.Context(), filepath.Join(b.TempDir(), "orders.db"))
		if err != nil {
			b.Fatal(err)
		}
		x := index.New(db, sources, index.Options{Chains: chain.Documented(), Logger: slog.New(slog.DiscardHandler)})
		if err := x.Backfill(b.Context(), func(index.Progress) {}); err != nil {
			b.Fatal(err)
		}
		status, err := x.Status(b.Context())
		if err != nil || status[0].Orders != orders {
			b.Fatalf("%+v, %v: want %d orders", status, err, orders)
		}
		if err := db.Close(); err != nil {
			b.Fatal(err)
		}
		calls, requests = 0, 0
		for _, n := range nodes {
			b.Logf("chain %d, %d blocks, old %t: %d requests, calls %v", n.ledger.id, n.ledger.newest(), n.old, n.requests, n.calls)
			requests += n.requests
			for _, count := range n.calls {
				calls += count
			}
		}
	}
	b.ReportMetric(1000*float64(calls)/float64(orders), "calls/1000-orders")
	b.ReportMetric(1000*float64(requests)/float64(orders), "requests/1000-orders")
	b.ReportMetric(0, "ns/op")
}

// counted is a node that counts what it is asked.
type counted struct {
	*node
	old bool // its logs are without the times of their blocks

	mu       sync.Mutex
	requests int
	calls    map[string]int // by method
}

// newCounted makes nodes of one chain.
func newCounted(l *ledger, old []bool) (nodes []*counted) {
	content := newNode(l)
	content.bloom = "0x" + strings.Repeat("ff", 256) // as full as a busy chain's
	for number := range l.newest() + 1 {
		content.write(l.block(number), l.make(number))
	}
	for _, each := range old {
		nodes = append(nodes, &counted{node: content, old: each, calls: map[string]int{}})
	}
	return nodes
}

// serveCounted makes the adapter of the nodes' chain.
func serveCounted(b *testing.B, p pace, nodes []*counted) order.Source {
	b.Helper()
	var endpoints []*upstream.Endpoint
	for i, n := range nodes {
		server := httptest.NewServer(n)
		b.Cleanup(server.Close)
		endpoint, err := upstream.NewEndpoint(upstream.EndpointOptions{Name: fmt.Sprintf("node-%d", i+1), URL: server.URL, MaxBody: 64 << 20})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(endpoint.Close)
		endpoints = append(endpoints, endpoint)
	}
	content := nodes[0].node
	known := chain.Chain{
		ID: content.ledger.id, Native: content.native, Family: chain.EVM, BlockTime: p.usual, Spacing: p.spacing, FirstBlock: 1,
		Contracts: contracts,
	}
	return evm.New(known, jsonrpc.New(upstream.NewPool("chain", endpoints...)))
}

func (n *counted) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(out, err.Error(), http.StatusBadRequest)
		return
	}
	calls := make([]call, 1)
	if json.Unmarshal(raw, &calls) != nil {
		calls = make([]call, 1)
		err = json.Unmarshal(raw, &calls[0])
	}
	n.mu.Lock()
	n.requests++
	for _, each := range calls {
		n.calls[each.Method]++
	}
	n.mu.Unlock()
	if err != nil {
		http.Error(out, err.Error(), http.StatusBadRequest)
		return
	}
	r.Body = io.NopCloser(strings.NewReader(string(raw)))
	if !n.old {
		n.node.ServeHTTP(out, r)
		return
	}
	answer := httptest.NewRecorder()
	n.node.ServeHTTP(answer, r)
	out.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(out, strings.ReplaceAll(answer.Body.String(), `"blockTimestamp"`, `"unknown"`))
}
