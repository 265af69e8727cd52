package bench

import (
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

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/audit"
	"crossgate/order/follow"
	"crossgate/store"
	"crossgate/upstream"
	"crossgate/upstream/evm"
	"crossgate/upstream/jsonrpc"
)

// BenchmarkBackfill reads the history of two chains from nodes that search 5,000 blocks at once, and counts what it
// asks for 1,000 orders: calls, as providers bill them, and the HTTP requests that they were made in. Orders are some
// blocks apart, as on a busy, an ordinary and a quiet chain, and are unlocked ten by one message. Old nodes
// leave the times of blocks out of logs.
func BenchmarkBackfill(b *testing.B) {
	for _, apart := range []uint64{8, 40, 400} {
		b.Run(fmt.Sprintf("apart=%d", apart), func(b *testing.B) { backfill(b, apart, false) })
		b.Run(fmt.Sprintf("apart=%d,old", apart), func(b *testing.B) { backfill(b, apart, true) })
	}
}

// backfill reads chains with one node for each of old.
func backfill(b *testing.B, apart uint64, old ...bool) {
	orders := size(1000, 100)
	var calls, requests int
	for b.Loop() {
		sources, nodes := map[chain.ID]order.Source{}, []*counted{}
		for _, id := range []chain.ID{giveChain, takeChain} {
			l := &ledger{id: id, orders: orders, apart: apart, joint: 10}
			own := newCounted(l, old)
			nodes = append(nodes, own...)
			sources[id] = serveCounted(b, own)
		}
		db, err := store.OpenSQLite(b.Context(), filepath.Join(b.TempDir(), "orders.db"))
		if err != nil {
			b.Fatal(err)
		}
		books := audit.Of(follow.New(db, sources, follow.Options{Chains: chain.Documented(), Logger: slog.New(slog.DiscardHandler)}))
		if err := books.Backfill(b.Context(), func(audit.Progress) {}); err != nil {
			b.Fatal(err)
		}
		status, err := books.Status(b.Context())
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
func serveCounted(b *testing.B, nodes []*counted) order.Source {
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
		ID: content.ledger.id, Native: content.native, Family: chain.EVM, BlockTime: blockTime, FirstBlock: 1,
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
