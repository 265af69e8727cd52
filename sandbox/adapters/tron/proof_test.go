package tron_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/rpc"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/index"
	"crossgate/sandbox"
	"crossgate/sandbox/sandboxtest"
	node "crossgate/sandbox/tron"
	"crossgate/store"
	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
	"crossgate/upstream/tron"
)

// seeds is how many random courses each kind of fault takes; make soak has it be twenty.
func seeds(t *testing.T) uint64 {
	t.Helper()
	text := os.Getenv("CROSSGATE_SEEDS")
	if text == "" {
		return 3
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestProvidersThatLoseLogs follows TRON, on which orders are created meanwhile, through endpoints whose nodes lag and
// forget. Blocks there have neither filters nor roots of receipts, so that voices decide. In the end what is stored is
// what all blocks tell.
func TestProvidersThatLoseLogs(t *testing.T) {
	world := sandboxtest.Start(t, sandbox.Options{})
	there, _ := world.Chain(chain.Tron)
	below, err := rpc.DialContext(t.Context(), there.EVMRPC)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(below.Close)
	honest := httptest.NewServer(node.New(below))
	t.Cleanup(honest.Close)
	rules := []string{"lag:3:0.2", "split:3:0.2", "empty:0.2", "drop:0.1", "null:0.05"}
	for seed := range seeds(t) {
		for _, nodes := range [][]string{{there.RPC}, {there.RPC, there.RPC}, {there.RPC, honest.URL}} {
			err := world.Inject(chain.Tron.String(), sandbox.Fault{Kind: sandbox.Unreliable, Rules: rules, Seed: seed + 1})
			if err != nil {
				t.Fatal(err)
			}
			follow(t, &story{t: t, world: world}, there.Facts, honest.URL, nodes...)
		}
	}
}

// follow has an index follow the chain while a story goes on, and compares it with what an honest endpoint tells.
func follow(t *testing.T, s *story, facts chain.Chain, honest string, nodes ...string) {
	t.Helper()
	facts.BlockTime = time.Millisecond
	var pool []*upstream.Endpoint
	for i, url := range nodes {
		endpoint, err := upstream.NewEndpoint(upstream.EndpointOptions{
			Name: fmt.Sprintf("node-%d", i), URL: url, Client: &http.Client{Transport: s}, Timeout: time.Minute,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(endpoint.Close)
		pool = append(pool, endpoint)
	}
	source := tron.New(facts, jsonrpc.New(upstream.NewPool("tron", pool...)))
	db, err := store.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "orders.db"))
	if err != nil {
		t.Fatal(err)
	}
	registry := chain.NewRegistry(facts)
	var said bytes.Buffer
	x := index.New(db, map[chain.ID]order.Source{chain.Tron: source}, index.Options{
		Chains: registry, MinPoll: time.Millisecond, MaxPoll: time.Millisecond, Logger: slog.New(slog.NewTextHandler(&said, nil)),
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- x.Run(ctx) }()
	ticks := time.NewTicker(2 * time.Millisecond)
	defer ticks.Stop()
	for end := s.last(); end == 0 || x.Basis().Chains[0].Proven < end; end = s.last() {
		select {
		case <-ticks.C:
		case <-t.Context().Done():
			t.Fatalf("never; said %s", said.String())
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	truth, err := tron.New(facts, rpcAt(t, honest)).Events(t.Context(), 0, s.last())
	if err != nil {
		t.Fatal(err)
	}
	byOrder := map[order.ID][]order.Event{}
	for _, e := range truth {
		byOrder[e.Order] = append(byOrder[e.Order], e)
	}
	stored := index.New(db, map[chain.ID]order.Source{chain.Tron: struct{ order.Source }{source}}, index.Options{Chains: registry})
	wrong := 0
	for id, events := range byOrder {
		want, ok := order.Fold(events)
		if !ok {
			continue
		}
		if got, err := stored.ByID(t.Context(), id); err != nil || got.State != want.State || got.Call != want.Call {
			wrong++
		}
	}
	if wrong > 0 || len(byOrder) < created {
		t.Errorf("%d nodes: %d of %d states wrong", len(nodes), wrong, len(byOrder))
	}
	if len(nodes) == 2 && nodes[1] == honest && strings.Contains(said.String(), "endpoints=node-1") {
		t.Errorf("the honest endpoint is blamed: %s", said.String())
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// created is how many orders a story creates.
const created = 8

// story is a transport that has something happen on TRON each time that its newest block is asked for.
type story struct {
	t     *testing.T
	world *sandbox.World
	mu    sync.Mutex
	made  int
	end   uint64 // number of the block of the last order
	rest  int    // blocks made since
}

func (s *story) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if bytes.Contains(body, []byte(`"latest"`)) {
		s.next(r.Context())
	}
	return http.DefaultTransport.RoundTrip(r)
}

func (s *story) next(ctx context.Context) {
	const quiet, together = 1100, 100 // blocks in the end, enough for all others to be proven
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.made < created:
		s.create()
		s.made++
	case s.rest < quiet:
		s.rest += together
		if err := s.world.Mine(context.WithoutCancel(ctx), chain.Tron, together); err != nil {
			s.t.Error(err)
		}
	}
}

// create makes an order from TRON to Polygon by a control call.
func (s *story) create() {
	const order = `{"chainId":100000026,"takeChainId":137,"giveToken":"USDT","giveAmount":"100","takeToken":"USDC","takeAmount":"99.5"}`
	answered, err := http.Post(s.world.URL()+"/sandbox/create", "application/json", strings.NewReader(order))
	if err != nil {
		s.t.Error(err)
		return
	}
	defer answered.Body.Close()
	text, _ := io.ReadAll(answered.Body)
	if answered.StatusCode != http.StatusOK {
		s.t.Errorf("create: %d %s", answered.StatusCode, text)
	}
	s.end = s.head()
}

// head is the number of TRON's newest block.
func (s *story) head() uint64 {
	there, _ := s.world.Chain(chain.Tron)
	answered, err := http.Post(there.EVMRPC, "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}`))
	if err != nil {
		s.t.Error(err)
		return 0
	}
	defer answered.Body.Close()
	var object struct{ Result string }
	_ = json.NewDecoder(answered.Body).Decode(&object)
	number, err := strconv.ParseUint(strings.TrimPrefix(object.Result, "0x"), 16, 64)
	if err != nil {
		s.t.Error(err)
	}
	return number
}

// last is the block of the last order, zero while there are more to come.
func (s *story) last() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.made < created {
		return 0
	}
	return s.end
}
