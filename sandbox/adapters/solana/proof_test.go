package solana_test

import (
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/internal/pooltest"
	"crossgate/order"
	"crossgate/order/query"
	"crossgate/sandbox/adapters/course"
	"crossgate/sandbox/balancer"
	nodes "crossgate/sandbox/jsonrpc"
	sandbox "crossgate/sandbox/solana"
	"crossgate/upstream/jsonrpc"
	"crossgate/upstream/solana"
)

// TestProvidersThatLoseTransactions follows the ledger, while orders progress on it, through endpoints whose nodes lag
// and forget. In the end every order has its right state, and everything that is locked is listed.
func TestProvidersThatLoseTransactions(t *testing.T) {
	all := []string{"lag:3:0.2", "split:5:0.2", "empty:0.2", "drop:0.1", "null:0.05"}
	courses := [][][]string{{all}, {all, all}, {all, nil}, {{"empty:0.3", "drop:0.2"}}} // rules of each endpoint
	for _, rule := range all {
		courses = append(courses, [][]string{{rule}})
	}
	for _, endpoints := range courses {
		t.Run(fmt.Sprint(endpoints), func(t *testing.T) {
			t.Parallel()
			bad := 0
			for seed := range course.Seeds(t) {
				t.Logf("seed %d", seed+1)
				bad += run(t, seed+1, endpoints)
			}
			if bad == 0 {
				t.Error("no answer was bad")
			}
		})
	}
}

// run follows a ledger through endpoints, each with its rules, compares the result with what happened, and returns the
// number of bad answers.
func run(t *testing.T, seed uint64, endpoints [][]string) (bad int) {
	t.Helper()
	w := newWorld(t)
	begun := w.Head()
	w.Connect(sandbox.ID, other.Key[:], other.Key[:])
	s := &story{world: w}
	s.steps = s.plan()
	known, _ := chain.Documented().Chain(chain.Solana)
	known.BlockTime = time.Millisecond
	var handlers []http.Handler
	var balancers []*balancer.Balancer
	for i, texts := range endpoints {
		rules := must.Get(balancer.ParseRules(texts...))(w.t)
		b := balancer.New(w.NodeBehind, seed+uint64(i)<<32, rules...)
		balancers = append(balancers, b)
		handlers = append(handlers, course.Before(b, `"getSlot"`, s.next))
	}
	source := solana.New(known, jsonrpc.New(pooltest.Of(t, handlers...)))
	said, stored := course.Follow(t, chain.NewRegistry(known), map[chain.ID]order.Source{chain.Solana: source}, func(x *query.Index) bool {
		last := s.last()
		return last > 0 && x.Of(x.Basis().Chains[0].Chain).State().Position.ProvenEnd > last
	})
	compare(t, w, begun, stored)
	for _, b := range balancers {
		bad += b.Bad()
	}
	for i, rules := range endpoints {
		if rules == nil && strings.Contains(said, fmt.Sprintf("endpoints=node-%d", i)) {
			t.Errorf("seed %d: the honest endpoint is blamed: %s", seed, said)
		}
	}
	return bad
}

// compare compares what is stored with the answers of the ledger's own node.
func compare(t *testing.T, w *world, begun uint64, stored *query.Index) {
	t.Helper()
	truth := must.Get(w.chain().Events(t.Context(), begun, w.Head()))(w.t)
	byOrder := map[order.ID][]order.Event{}
	for _, e := range truth {
		byOrder[e.Order] = append(byOrder[e.Order], e)
	}
	course.Compare(t, stored, chain.NewAddress(taker.Key[:]), byOrder, order.StateFulfilled, order.StateSentUnlock)
}

// story is a sequence of steps on a ledger, one for each request for its newest slot.
type story struct {
	*world
	mu    sync.Mutex
	steps []func()
	end   uint64 // slot of the last step
	rest  int    // blocks mined since
}

// plan returns steps to orders in every state, some of them with long pauses in between.
func (s *story) plan() (steps []func()) {
	add := func(step func()) { steps = append(steps, step) }
	for i := range 6 {
		var out, here sandbox.Order
		var in order.ID
		add(func() { out = s.create(sandbox.Way{}) })
		add(func() { here = s.createHere() })
		add(func() { in = s.deliver(sandbox.Way{}, here.Terms) })
		add(func() { s.Mine(1 + i%5) })
		switch i % 4 {
		case 0:
			add(func() { s.may(s.SendUnlock(s.later(), taker, onEVM, in)) })
		case 1:
			add(func() {
				s.may(s.Claim(s.later(), taker, sandbox.Inbound{
					Submission: [32]byte{byte(i)}, From: 1, Beneficiary: taker.Key, Orders: [][32]byte{out.Terms.ID()},
				}, false))
			})
		case 2:
			add(func() { s.Mine(40) })
			cancelled := s.terms(nil)
			add(func() { s.may(s.Cancel(s.later(), cancelled, other)) })
		}
	}
	return steps
}

// createHere creates an order from Solana to Solana, so that one ledger determines what is locked.
func (s *story) createHere() sandbox.Order {
	s.nonce++
	made, err := s.Create(s.later(), sandbox.Way{}, sandbox.Creation{
		Maker: maker, Give: usdc, Amount: 1_000_000, Take: sandbox.Offer{Chain: sandbox.ID, Token: usdc.Mint[:], Amount: big.NewInt(990_000)},
		Receiver: other.Key[:], Authority: other.Key[:], Nonce: s.nonce,
	})
	s.may(err)
	return append(made, sandbox.Order{})[0]
}

// may fails the test if the ledger refuses a step, which runs in a request's goroutine.
func (s *story) may(err error) {
	if err != nil {
		s.t.Error(err)
	}
}

// next takes a step. After the last one it only mines blocks.
func (s *story) next() {
	const quiet = 1200 // final blocks, enough to prove all others
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.steps) > 0 {
		s.steps[0]()
		s.steps, s.end = s.steps[1:], s.Head()
		return
	}
	if s.rest < quiet {
		s.Mine(300)
		s.rest += 300
	}
}

// last returns the slot of the last step, or zero while steps remain.
func (s *story) last() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.steps) > 0 {
		return 0
	}
	return s.end
}

// TestCallsForSlots counts the calls for reading new slots, and the further ones for proving them: each of the three
// programs is listed, and the same request looks for the ends of the range; an order costs its transaction and its
// block. A single endpoint lists four times for a proof.
func TestCallsForSlots(t *testing.T) {
	w := newWorld(t)
	w.create(sandbox.Way{})
	w.Mine(40)
	calls := newCounter(w)
	c := w.chainOver(calls)
	must.Get(c.Head(t.Context()))(w.t)
	must.Get(c.Events(t.Context(), w.Head()-20, w.Head()))(w.t)
	quiet := map[string]int{"getBlock": 2, "getSignaturesForAddress": 3}
	one := map[string]int{"getBlock": 3, "getSignaturesForAddress": 4, "getTransaction": 1}
	again := map[string]int{"getBlock": 3, "getSignaturesForAddress": 3, "getTransaction": 1} // a page that goes back further is the last
	for name, test := range map[string]struct {
		happens      func()
		read, proven map[string]int
	}{
		"nothing happens":  {func() { w.Mine(10) }, quiet, times(4, quiet)},
		"an order is made": {func() { w.create(sandbox.Way{}) }, one, times(4, again)},
	} {
		from := w.Head() + 1
		test.happens()
		must.Get(c.Head(t.Context()))(w.t)
		calls.reset()
		events := must.Get(c.Events(t.Context(), from, w.Head()))(w.t)
		if read := calls.reset(); !maps.Equal(read, test.read) {
			t.Errorf("%s: reading took %v, want %v", name, read, test.read)
		}
		proof := must.Get(c.Verify(t.Context(), from, w.Head(), events))(w.t)
		if proven := calls.reset(); !maps.Equal(proven, test.proven) || len(proof.Events) != len(events) {
			t.Errorf("%s: proving took %v, want %v", name, proven, test.proven)
		}
	}
	// If the second of its lists lacks what the first has, it is not believed about what both lack.
	from := w.Head() + 1
	w.create(sandbox.Way{})
	must.Get(c.Head(t.Context()))(w.t)
	calls.reset()
	calls.lacking = []int{4, 5, 6}
	proof := must.Get(c.Verify(t.Context(), from, w.Head(), nil))(w.t)
	if proven := calls.reset()["getSignaturesForAddress"]; proven != 9*3 || len(proof.Events) != 1 {
		t.Errorf("an endpoint that contradicts itself takes %d calls, want those of eight lists more; %d events are proven", proven, len(proof.Events))
	}
}

func times(n int, counts map[string]int) map[string]int {
	product := map[string]int{}
	for method, count := range counts {
		product[method] = n * count
	}
	return product
}

// counter is a node that counts calls by method.
type counter struct {
	http.Handler
	mu      sync.Mutex
	calls   map[string]int
	lacking []int // calls for signatures that are answered by none
}

func newCounter(node http.Handler) *counter {
	c := &counter{calls: map[string]int{}}
	c.Handler = nodes.Altered(node, func(call nodes.Request, _ int) string {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.calls[call.Method]++; call.Method == "getSignaturesForAddress" && slices.Contains(c.lacking, c.calls[call.Method]) {
			return `"result":[]`
		}
		return ""
	})
	return c
}

// reset returns the counts since the last reset.
func (c *counter) reset() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	calls := c.calls
	c.calls = map[string]int{}
	return calls
}
