package tron_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/rpc"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/internal/pooltest"
	"crossgate/order"
	"crossgate/order/query"
	"crossgate/sandbox"
	"crossgate/sandbox/adapters/course"
	jsonrpcnode "crossgate/sandbox/jsonrpc"
	"crossgate/sandbox/sandboxtest"
	node "crossgate/sandbox/tron"
	"crossgate/upstream/evm"
	"crossgate/upstream/jsonrpc"
)

// TestProvidersThatLoseLogs follows TRON, while orders are created and delivered on it, through endpoints whose nodes
// lag and forget. Blocks there have neither bloom filters nor receipt roots, so that voices decide. In the end what is
// stored is what all blocks contain.
func TestProvidersThatLoseLogs(t *testing.T) {
	world := sandboxtest.Start(t, sandbox.Options{})
	there, _ := world.Chain(chain.Tron)
	below := must.Get(rpc.DialContext(t.Context(), there.EVMRPC))(t)
	t.Cleanup(below.Close)
	honest := httptest.NewServer(node.New(below, new(node.Wallet)))
	t.Cleanup(honest.Close)
	rules := []string{"lag:3:0.2", "split:3:0.2", "empty:0.2", "drop:0.1", "null:0.05"}
	courses, seeds := [][]string{{there.RPC}, {there.RPC, honest.URL}}, course.Seeds(t)
	if seeds > 1 {
		courses = append(courses, []string{there.RPC, there.RPC})
	}
	for seed := range seeds {
		for _, nodes := range courses {
			must.Do(t, world.Inject(chain.Tron.String(), sandbox.Fault{Kind: sandbox.Unreliable, Rules: rules, Seed: seed + 1}))
			followed(t, &story{t: t, world: world}, there.Facts, honest.URL, nodes...)
		}
	}
}

// followed lets an index follow the chain during a story and compares it with an honest endpoint's answers.
func followed(t *testing.T, s *story, facts chain.Chain, honest string, nodes ...string) {
	t.Helper()
	facts.BlockTime = time.Millisecond
	handlers := make([]http.Handler, len(nodes))
	for i, url := range nodes {
		handlers[i] = course.Before(jsonrpcnode.At(url), `"latest"`, s.next)
	}
	source := evm.New(facts, jsonrpc.New(pooltest.Of(t, handlers...)))
	beside, _ := s.world.Chain(polygon)
	giving := evm.New(beside.Facts, rpcAt(t, beside.RPC))
	sources := map[chain.ID]order.Source{chain.Tron: source, polygon: giving}
	said, stored := course.Follow(t, chain.NewRegistry(facts, beside.Facts), sources, func(x *query.Index) bool { return s.isOver() && !s.lacks(x) })
	byOrder := s.truth(evm.New(facts, rpcAt(t, honest)), giving)
	course.Compare(t, stored, chain.NewAddress(s.world.Takers()[0].Address.Bytes()), byOrder, order.StateFulfilled)
	if len(byOrder) < created {
		t.Errorf("%d nodes: %d orders in all, want %d at least", len(nodes), len(byOrder), created)
	}
	if len(nodes) == 2 && nodes[1] == honest && strings.Contains(said, "endpoints=node-1") {
		t.Errorf("the honest endpoint is blamed: %s", said)
	}
}

// truth returns honest nodes' events of the orders that have a step on TRON, the first source's chain.
func (s *story) truth(sources ...order.Source) map[order.ID][]order.Event {
	s.t.Helper()
	byOrder, ends := map[order.ID][]order.Event{}, []uint64{s.end, s.beside}
	for i, source := range sources {
		events := must.Get(source.Events(s.t.Context(), 0, ends[i]))(s.t)
		for _, e := range events {
			if _, isKnown := byOrder[e.Order]; isKnown || e.At.Chain == chain.Tron {
				byOrder[e.Order] = append(byOrder[e.Order], e)
			}
		}
	}
	return byOrder
}

// polygon is the second chain.
const polygon chain.ID = 137

// created is how many orders a story creates, half of them delivered on TRON.
const created = 8

// story takes a step on TRON for each request for its newest block.
type story struct {
	t      *testing.T
	world  *sandbox.World
	mu     sync.Mutex
	made   int
	end    uint64 // block number of the last order
	beside uint64 // Polygon's newest block number at that time
	rest   int    // blocks mined since
}

func (s *story) next() {
	const quiet, together = 1100, 100 // final blocks, enough to prove all others
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.made < created:
		s.create()
		s.made++
	case s.rest < quiet:
		s.rest += together
		if err := s.world.Mine(s.t.Context(), chain.Tron, together); err != nil {
			s.t.Error(err)
		}
	}
}

// create creates an order from TRON to Polygon, or one in the other direction, which it delivers on TRON.
func (s *story) create() {
	const (
		out = `{"chainId":100000026,"takeChainId":137,"giveToken":"USDT","giveAmount":"100","takeToken":"USDC","takeAmount":"99.5"}`
		in  = `{"chainId":137,"takeChainId":100000026,"giveToken":"USDC","giveAmount":"100","takeToken":"USDT","takeAmount":"99.5"}`
	)
	if s.made%2 == 0 {
		s.control("create", out)
	} else {
		s.control("fulfil", fmt.Sprintf(`{"orderId":%q}`, s.control("create", in)))
	}
	s.end, s.beside = s.head(chain.Tron), s.head(polygon)
}

// control makes a control call and returns the ID of its order.
func (s *story) control(call, body string) (orderID string) {
	answered, err := http.Post(s.world.URL()+"/sandbox/"+call, "application/json", strings.NewReader(body))
	if err != nil {
		s.t.Error(err)
		return ""
	}
	defer answered.Body.Close()
	text, _ := io.ReadAll(answered.Body)
	var made struct{ OrderID string }
	if err := json.Unmarshal(text, &made); err != nil || answered.StatusCode != http.StatusOK {
		s.t.Errorf("%s: %d %s", call, answered.StatusCode, text)
	}
	return made.OrderID
}

// head returns the number of a chain's newest block.
func (s *story) head(id chain.ID) uint64 {
	there, _ := s.world.Chain(id)
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

// isOver reports whether all orders are created.
func (s *story) isOver() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.made == created
}

// lacks reports whether an index has not proven all of TRON, or not read all of Polygon.
func (s *story) lacks(x *query.Index) bool {
	for _, c := range x.Basis().Chains {
		if c.Chain == chain.Tron && x.Of(c.Chain).State().Position.ProvenEnd <= s.end || c.Chain == polygon && c.Indexed < s.beside {
			return true
		}
	}
	return false
}
