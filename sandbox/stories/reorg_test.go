package stories_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/follow"
	"crossgate/order/query"
	"crossgate/proxy"
	"crossgate/proxy/orders"
	"crossgate/sandbox"
	"crossgate/sandbox/sandboxtest"
	"crossgate/store"
	"crossgate/token"
	"crossgate/upstream"
	"crossgate/upstream/evm"
	"crossgate/upstream/jsonrpc"
)

// TestReorgsOfRealChainsWhileServing drops 1 to 20 blocks at a time from followed chains while clients ask for orders
// and for what is locked: blocks that the follower has read, and blocks that only answers have used. No answer to a
// request sent after a head of the new branch was read contains anything from the dropped blocks.
func TestReorgsOfRealChainsWhileServing(t *testing.T) {
	t.Parallel()
	const deepest = 20
	r := startReorgs(t, deepest)
	r.deliver(t, r.give) // stays
	stop := r.keepAsking(t)
	for _, depth := range depths(deepest) {
		read, ahead := r.give, r.take
		if depth%2 == 0 {
			read, ahead = ahead, read
		}
		r.drop(t, depth, read, false)
		r.drop(t, depth, ahead, true)
	}
	stop()
	if r.answers.Load() == 0 {
		t.Error("nothing was answered meanwhile")
	}
	t.Logf("%d answers while blocks were dropped", r.answers.Load())
}

// depths returns an odd and an even depth up to the deepest, or with CROSSGATE_REORGS=all (make soak) each.
func depths(deepest int) []int {
	if os.Getenv("CROSSGATE_REORGS") != "all" {
		return []int{1, deepest}
	}
	all := make([]int, deepest)
	for i := range all {
		all[i] = i + 1
	}
	return all
}

// poll is how often followers poll their chains' heads.
const poll = 10 * time.Millisecond

// reorgs is the HTTP interface to an index of two chains of a sandbox.
type reorgs struct {
	world      *sandbox.World
	index      *query.Index
	url        string
	locked     string // path of what is locked for the taker who fulfils
	give, take *watchedChain
	answers    atomic.Int64

	mu     sync.Mutex
	orders []*reorged
}

// reorged is an order whose creation or delivery is dropped.
type reorged struct {
	id, creation string
	lost         string        // the dropped transaction
	chain        *watchedChain // the chain that drops it
	head         uint64        // head of the branch without it; 0: not dropped yet
}

// watchedChain records how far its follower has come, and can stop it.
type watchedChain struct {
	*evm.Chain
	id        chain.ID
	following sync.RWMutex  // while locked, the follower gets no heads
	waits     atomic.Bool   // the follower asks for a head; while following is locked, it is waiting for one
	newest    atomic.Uint64 // head that the follower got last
	read      atomic.Uint64 // head that it has compared with what it had read
}

func (w *watchedChain) Head(ctx context.Context) (order.Head, error) {
	w.read.Store(w.newest.Load())
	w.waits.Store(true)
	w.following.RLock()
	defer w.following.RUnlock()
	w.waits.Store(false)
	head, err := w.Chain.Head(ctx)
	if err == nil {
		w.newest.Store(head.Latest.Number)
	}
	return head, err
}

func (w *watchedChain) Events(ctx context.Context, from, to uint64) ([]order.Event, error) {
	w.read.Store(w.newest.Load())
	return w.Chain.Events(ctx, from, to)
}

// height returns the number of the chain's newest block.
func (w *watchedChain) height(t *testing.T) uint64 {
	t.Helper()
	head := must.Get(w.Chain.Head(t.Context()))(t)
	return head.Latest.Number
}

func startReorgs(t *testing.T, deepest uint64) *reorgs {
	t.Helper()
	world := sandboxtest.Start(t, sandbox.Options{Finality: deepest + 10})
	r := &reorgs{world: world, locked: "/api/Satistics/" + world.Takers()[0].Address.Hex() + "/lockedAssets"}
	r.give, r.take = watch(t, world, 1), watch(t, world, 137)
	store := must.Get(store.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "orders.db")))(t)
	t.Cleanup(func() { must.Do(t, store.Close()) })
	kept := new(keptAnswers)
	r.index = query.New(follow.New(store, map[chain.ID]order.Source{1: r.give, 137: r.take}, follow.Options{
		Chains: chain.Documented(), Pace: follow.Pace{Asked: poll}, Observer: kept, Logger: slog.New(slog.DiscardHandler),
	}), query.Options{})
	kept.Orders = r.serve(t)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.index.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return r
}

// keptAnswers are the cached answers of a server that is created after the index.
type keptAnswers struct{ *orders.Orders }

// OrderSeen implements follow.Observer.
func (*keptAnswers) OrderSeen(context.Context, *order.Order) {}

func watch(t *testing.T, world *sandbox.World, id chain.ID) *watchedChain {
	t.Helper()
	c, _ := world.Chain(id)
	endpoint := must.Get(upstream.NewEndpoint(upstream.EndpointOptions{Name: "sandbox", URL: c.RPC}))(t)
	t.Cleanup(endpoint.Close)
	return &watchedChain{Chain: evm.New(c.Facts, jsonrpc.New(upstream.NewPool("sandbox", endpoint))), id: id}
}

// serve starts the HTTP interface to the index.
func (r *reorgs) serve(t *testing.T) *orders.Orders {
	t.Helper()
	tokens := token.NewDirectory(token.DirectoryOptions{
		Registry: chain.Documented(), Readers: map[chain.ID]token.Reader{1: r.give, 137: r.take},
	})
	server := must.Get(proxy.New(proxy.Options{
		Index: func() proxy.Index { return r.index }, Chains: chain.Documented(), Logger: slog.New(slog.DiscardHandler),
	}))(t)
	answers := orders.Mount(server, nil, func() orders.Options { return orders.Options{Orders: r.index, Swaps: r.index, Tokens: tokens} })
	t.Cleanup(server.Close)
	listening := httptest.NewServer(server.Handler())
	t.Cleanup(listening.Close)
	r.url = listening.URL
	return answers
}

// lag returns how far the index is behind a chain.
func (r *reorgs) lag(id chain.ID) order.Lag {
	all := r.index.Basis().Chains
	return all[slices.IndexFunc(all, func(c order.ChainBasis) bool { return c.Chain == id })].Lag
}

// drop fulfils an order and drops its creation or its fulfilment, with depth blocks of a chain, either after the
// follower has read it or before.
func (r *reorgs) drop(t *testing.T, depth int, on *watchedChain, ahead bool) {
	t.Helper()
	if ahead {
		on.following.Lock()
		// The index trusts a chain's answers until it has missed some polls of the head.
		await(t, "behind", func() bool { return on.waits.Load() && r.lag(on.id).By(time.Now()) > 5*poll })
	}
	o := r.deliver(t, on)
	if depth > 1 {
		must.Do(t, r.world.Mine(t.Context(), on.id, depth-1))
	}
	for _, c := range []*watchedChain{r.give, r.take} {
		if height := c.height(t); c != on || !ahead {
			await(t, "indexed", func() bool { return r.lag(c.id).Indexed == height })
		}
	}
	if status, body := r.get(t, o.path()); status != http.StatusOK || !strings.Contains(body, o.lost) {
		t.Errorf("before %d blocks of chain %s are dropped: GET %s = %d %s, want %s in it", depth, on.id, o.path(), status, body, o.lost)
	}
	// A fulfilment that was read counts even if its creation is ahead of the index; one that is ahead itself does not.
	if status, body := r.get(t, r.locked); status != http.StatusOK || strings.Contains(body, o.id) != (on == r.give || !ahead) {
		t.Errorf("before %d blocks of chain %s are dropped: GET %s = %d %s", depth, on.id, r.locked, status, body)
	}
	must.Do(t, r.world.Reorg(t.Context(), on.id, uint64(depth)))
	head := on.height(t)
	r.mu.Lock()
	o.head = head
	r.mu.Unlock()
	if ahead {
		on.following.Unlock()
	}
	await(t, "read", func() bool { return on.read.Load() >= head })
	for _, path := range []string{o.path(), o.byID(), r.locked} {
		r.check(t, path)
	}
	want := map[*watchedChain]int{r.give: http.StatusNotFound, r.take: http.StatusOK}[on]
	if status, body := r.get(t, o.path()); status != want {
		t.Errorf("after %d blocks of chain %s were dropped: GET %s = %d %s, want %d", depth, on.id, o.path(), status, body, want)
	}
}

// deliver creates an order and fulfils it; a chain will drop one of the two steps.
func (r *reorgs) deliver(t *testing.T, on *watchedChain) *reorged {
	t.Helper()
	made := sandboxtest.Deliver(t, r.world)
	o := &reorged{id: made.OrderID, creation: made.CreationTxHash, lost: made.CreationTxHash, chain: on}
	if on == r.take {
		height := on.height(t)
		delivery, err := on.Chain.Events(t.Context(), height, height)
		if err != nil || len(delivery) == 0 {
			t.Fatalf("events of the delivery: %v, %v", delivery, err)
		}
		o.lost = delivery[0].At.Tx.String()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.orders = append(r.orders, o)
	return o
}

func (o *reorged) path() string { return "/api/Orders/creationTxHash/" + o.creation }
func (o *reorged) byID() string { return "/api/Orders/" + o.id }

// keepAsking requests the newest order and what is locked until stop is called.
func (r *reorgs) keepAsking(t *testing.T) (stop func()) {
	t.Helper()
	var asking sync.WaitGroup
	stopped := make(chan struct{})
	for _, path := range []func(*reorged) string{
		(*reorged).path, (*reorged).byID, func(*reorged) string { return r.locked },
	} {
		asking.Go(func() {
			for i := 1; ; i++ {
				select {
				case <-stopped:
					return
				default:
				}
				r.mu.Lock()
				newest := len(r.orders) - 1
				o := r.orders[newest-min(newest, i%3)]
				r.mu.Unlock()
				r.check(t, path(o))
			}
		})
	}
	return func() {
		close(stopped)
		asking.Wait()
	}
}

// check sends a request. What had been dropped by the heads read before must not be in the answer.
func (r *reorgs) check(t *testing.T, path string) {
	read := map[*watchedChain]uint64{r.give: r.give.read.Load(), r.take: r.take.read.Load()}
	status, body := r.get(t, path)
	if status != http.StatusOK {
		return // no answer
	}
	r.answers.Add(1)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, o := range r.orders {
		if o.head == 0 || read[o.chain] < o.head {
			continue
		}
		told := map[string]string{o.path(): o.lost, o.byID(): o.lost, r.locked: o.id}[path]
		if told != "" && strings.Contains(body, told) {
			t.Errorf("block %d of chain %s was read, which does not stand on %s: GET %s = %.2000s", read[o.chain], o.chain.id, o.lost, path, body)
		}
	}
}

// get may be called from any goroutine: a failed request fails the test and returns nothing.
func (r *reorgs) get(t *testing.T, path string) (status int, body string) {
	if status, body = fetch(r.url + path); status == 0 {
		t.Error(body)
	}
	return status, body
}
