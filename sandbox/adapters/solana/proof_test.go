package solana_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/follow"
	"crossgate/order/query"
	"crossgate/sandbox/adapters/course"
	"crossgate/sandbox/balancer"
	sandbox "crossgate/sandbox/solana"
	"crossgate/store"
	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
	"crossgate/upstream/solana"
)

// TestProvidersThatLoseTransactions follows the ledger, on which orders go their ways meanwhile, through endpoints whose
// nodes lag and forget: in the end every order is in its right state, and what is locked is locked.
func TestProvidersThatLoseTransactions(t *testing.T) {
	all := []string{"lag:3:0.2", "split:5:0.2", "empty:0.2", "drop:0.1", "null:0.05"}
	courses := [][][]string{{all}, {all, all}, {all, nil}} // rules of each endpoint
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

// run follows a ledger through endpoints, each with its rules, compares what comes of it with what happened, and returns
// how many answers were bad.
func run(t *testing.T, seed uint64, endpoints [][]string) (bad int) {
	t.Helper()
	w := newWorld(t)
	begun := w.Head()
	w.Connect(sandbox.ID, onEVM, onEVM)
	s := &story{world: w}
	s.steps = s.plan()
	known, _ := chain.Documented().Chain(chain.Solana)
	known.BlockTime = time.Millisecond
	var pool []*upstream.Endpoint
	var balancers []*balancer.Balancer
	for i, texts := range endpoints {
		rules, err := balancer.ParseRules(texts...)
		w.must(err)
		b := balancer.New(w.NodeBehind, seed+uint64(i)<<32, rules...)
		balancers = append(balancers, b)
		server := httptest.NewServer(s.before(b))
		t.Cleanup(server.Close)
		endpoint, err := upstream.NewEndpoint(upstream.EndpointOptions{
			Name: fmt.Sprintf("node-%d", i), URL: server.URL, Client: server.Client(), Timeout: time.Minute,
		})
		w.must(err)
		t.Cleanup(endpoint.Close)
		pool = append(pool, endpoint)
	}
	source := solana.New(known, jsonrpc.New(upstream.NewPool("solana", pool...)))
	db, err := store.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "orders.db"))
	w.must(err)
	var said log
	x := query.New(follow.New(db, map[chain.ID]order.Source{chain.Solana: source}, follow.Options{
		Chains: chain.NewRegistry(known), Pace: follow.Pace{Asked: time.Millisecond},
		Logger: slog.New(slog.NewTextHandler(&said, nil)),
	}), query.Options{})
	stop := course.Run(t, x)
	course.Until(t, func() bool {
		last := s.last()
		return last > 0 && x.Basis().Chains[0].Proven >= last
	})
	stop()
	compare(t, w, begun, source, db, known)
	w.must(db.Close())
	for _, b := range balancers {
		bad += b.Bad()
	}
	for i, rules := range endpoints {
		if text := said.String(); rules == nil && strings.Contains(text, fmt.Sprintf("endpoints=node-%d", i)) {
			t.Errorf("seed %d: the honest endpoint is blamed: %s", seed, text)
		}
	}
	return bad
}

// compare holds what is stored against what the ledger's own node tells.
func compare(t *testing.T, w *world, begun uint64, source order.Source, db *store.DB, known chain.Chain) {
	t.Helper()
	truth, err := w.chain().Events(t.Context(), begun, w.Head())
	w.must(err)
	byOrder := map[order.ID][]order.Event{}
	for _, e := range truth {
		byOrder[e.Order] = append(byOrder[e.Order], e)
	}
	// A source that cannot be asked for more than is stored.
	sources := map[chain.ID]order.Source{chain.Solana: struct{ order.Source }{source}}
	x := query.New(follow.New(db, sources, follow.Options{Chains: chain.NewRegistry(known)}), query.Options{})
	course.Compare(t, x, chain.NewAddress(taker.Key[:]), byOrder, order.StateFulfilled, order.StateSentUnlock)
}

// story is what happens on a ledger, a step each time that its newest slot is asked for.
type story struct {
	*world
	mu    sync.Mutex
	steps []func()
	end   uint64 // slot of the last step
	rest  int    // blocks made since
}

// plan is orders in every state, some of them with long pauses before the next.
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

// createHere makes an order from Solana to Solana, so that one ledger tells what is locked.
func (s *story) createHere() sandbox.Order {
	s.nonce++
	made, err := s.Create(s.later(), sandbox.Way{}, sandbox.Creation{
		Maker: maker, Give: usdc, Amount: 1_000_000, Take: sandbox.Offer{Chain: sandbox.ID, Token: usdc.Mint[:], Amount: big.NewInt(990_000)},
		Receiver: other.Key[:], Authority: other.Key[:], Nonce: s.nonce,
	})
	s.may(err)
	return append(made, sandbox.Order{})[0]
}

// before has a step happen before a node is asked for the newest slot. In the end only blocks are made.
func (s *story) before(node http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if bytes.Contains(body, []byte(`"getSlot"`)) {
			s.next()
		}
		node.ServeHTTP(w, r)
	})
}

// may tells the test when the ledger refuses a step, which is taken in a request's goroutine.
func (s *story) may(err error) {
	if err != nil {
		s.t.Error(err)
	}
}

func (s *story) next() {
	const quiet = 1200 // blocks in the end, enough for all others to be proven
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

// last is the slot of the last step, zero while there are more.
func (s *story) last() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.steps) > 0 {
		return 0
	}
	return s.end
}

// log is a text that several may write.
type log struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *log) Write(part []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(part)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// TestCallsForSlots counts what reading new slots costs, and what proving them adds: each of the three programs is listed,
// and the ends of the range are looked for in the same request; an order costs its transaction and its block. One
// endpoint alone lists four times to prove.
func TestCallsForSlots(t *testing.T) {
	w := newWorld(t)
	w.create(sandbox.Way{})
	w.Mine(40)
	calls := &counter{node: w, calls: map[string]int{}}
	c := w.chainOver(calls)
	_, err := c.Head(t.Context())
	w.must(err)
	_, err = c.Events(t.Context(), w.Head()-20, w.Head())
	w.must(err)
	quiet := map[string]int{"getBlock": 2, "getSignaturesForAddress": 3}
	one := map[string]int{"getBlock": 3, "getSignaturesForAddress": 4, "getTransaction": 1}
	for name, test := range map[string]struct {
		happens      func()
		read, proven map[string]int
	}{
		"nothing happens":  {func() { w.Mine(10) }, quiet, times(4, quiet)},
		"an order is made": {func() { w.create(sandbox.Way{}) }, one, times(4, one)},
	} {
		from := w.Head() + 1
		test.happens()
		_, err := c.Head(t.Context())
		w.must(err)
		calls.reset()
		events, err := c.Events(t.Context(), from, w.Head())
		w.must(err)
		if read := calls.reset(); !maps.Equal(read, test.read) {
			t.Errorf("%s: reading took %v, want %v", name, read, test.read)
		}
		proof, err := c.Verify(t.Context(), from, w.Head(), events)
		w.must(err)
		if proven := calls.reset(); !maps.Equal(proven, test.proven) || len(proof.Events) != len(events) {
			t.Errorf("%s: proving took %v, want %v", name, proven, test.proven)
		}
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
	node  http.Handler
	mu    sync.Mutex
	calls map[string]int
}

func (c *counter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	c.mu.Lock()
	for _, method := range regexp.MustCompile(`"method":"(\w+)"`).FindAllSubmatch(body, -1) {
		c.calls[string(method[1])]++
	}
	c.mu.Unlock()
	c.node.ServeHTTP(w, r)
}

// reset returns what was counted since the last time.
func (c *counter) reset() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	calls := c.calls
	c.calls = map[string]int{}
	return calls
}
