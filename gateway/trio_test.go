package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/order"
	"crossgate/order/follow"
	"crossgate/order/query"
	"crossgate/store"
	"crossgate/upstream"
	"crossgate/upstream/evm"
	"crossgate/upstream/jsonrpc"
)

// The trio is what the free endpoints of a quick chain are like: each can do something that the others cannot.
const (
	trioBlockTime = 450 * time.Millisecond
	trioBehind    = 42_000 // blocks that the index has to read
	trioRate      = 5      // requests a second that each endpoint takes
	trioLevel     = 20     // blocks: nine seconds
)

// trioNode is one endpoint: a transport, so that time can be a test's own.
type trioNode struct {
	chain   *calm
	takes   time.Duration
	span    uint64 // blocks of a search; zero: none is searched
	depth   uint64 // blocks before the newest whose logs are not refused; zero: all
	enforce bool   // the endpoint refuses more than its rate, with 429
	isWhole bool   // it refuses a batch as a whole for what it refuses of it
	random  *rand.Rand

	mu     sync.Mutex
	window []time.Time // requests of the last second
	asked  int
}

func (n *trioNode) RoundTrip(r *http.Request) (*http.Response, error) {
	n.mu.Lock()
	isOver := n.count()
	n.asked++
	wait := n.takes*3/4 + time.Duration(n.random.Int64N(int64(n.takes)/2))
	n.mu.Unlock()
	select {
	case <-time.After(wait):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	if isOver && n.enforce {
		return responded(r, http.StatusTooManyRequests, []string{"Too Many Requests"}, false), nil
	}
	status := http.StatusOK
	answers, isBatch, err := answered(r, func(method string, params []json.RawMessage) string {
		members := n.call(method, params)
		if strings.Contains(members, "Archive") {
			status = http.StatusForbidden
		}
		return members
	})
	if err != nil {
		return nil, err
	}
	if refusal := slices.IndexFunc(answers, func(one string) bool { return strings.Contains(one, `"error"`) }); refusal >= 0 && n.isWhole {
		answers, isBatch = answers[refusal:], false
	}
	return responded(r, status, answers, isBatch), nil
}

// requests counts them.
func (n *trioNode) requests() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asked
}

// count takes note of a request, and reports whether it is one too many.
func (n *trioNode) count() (isOver bool) {
	now := time.Now()
	for len(n.window) > 0 && now.Sub(n.window[0]) >= time.Second {
		n.window = n.window[1:]
	}
	n.window = append(n.window, now)
	return len(n.window) > trioRate
}

func (n *trioNode) call(method string, params []json.RawMessage) (members string) {
	from, to := searched(method, params)
	switch {
	case method == "eth_getLogs" && n.span == 0:
		return `"error":{"code":-32005,"message":"limit exceeded"}`
	case to > 0 && n.depth > 0 && from+n.depth < n.chain.head():
		return `"error":{"code":-32602,"message":"Archive requests require a personal token. Get one at: https://provider.example"}`
	case to > 0 && to-from >= n.span:
		return fmt.Sprintf(`"error":{"code":-32000,"message":"block range is too wide (maximum %d)"}`, n.span)
	case !slices.Contains([]string{"eth_chainId", "eth_blockNumber", "eth_getBlockByNumber", "eth_getLogs"}, method):
		return `"error":{"code":-32601,"message":"the method ` + method + ` does not exist/is not available"}`
	}
	return `"result":` + n.chain.answer(method, params)
}

// TestATrioOfFreeEndpointsIsEnough has an index that is 42,000 blocks behind follow a chain of three endpoints: one that
// searches 1,000 blocks at a time, one that refuses what is older than 10,000 blocks, one that does not search at all.
// It is level within a minute whoever is asked first, and stays level; endpoints that refuse what is beyond their rate
// are not asked for more.
func TestATrioOfFreeEndpointsIsEnough(t *testing.T) {
	for start := range 8 {
		t.Run(fmt.Sprintf("start %d", start), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { followTrio(t, start) })
		})
	}
}

// trioEndpoints are the three nodes of a start, and endpoints at them in some sequence.
func trioEndpoints(t *testing.T, of *calm, start int) (nodes []*trioNode, endpoints []*upstream.Endpoint) {
	nodes = []*trioNode{
		{takes: 250 * time.Millisecond, span: 1000}, {takes: 80 * time.Millisecond, span: 50_000, depth: 10_000}, {takes: 40 * time.Millisecond},
	}
	for _, i := range newRandom(uint64(start)).Perm(len(nodes)) {
		nodes[i].chain, nodes[i].random = of, rand.New(rand.NewPCG(uint64(start), uint64(i+1)))
		nodes[i].enforce, nodes[i].isWhole = start%2 == 1, start%4 >= 2
		e, err := upstream.NewEndpoint(upstream.EndpointOptions{
			Name: fmt.Sprintf("node-%d", i), URL: "http://node.invalid", Client: &http.Client{Transport: nodes[i]},
			Timeout: 5 * time.Second, RequestsPerSecond: trioRate,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(e.Close)
		endpoints = append(endpoints, e)
	}
	return nodes, endpoints
}

func followTrio(t *testing.T, start int) {
	of := newCalm(config.Config{}, 56)
	known := of.chain
	of.chain.BlockTime, of.isQuiet = trioBlockTime, true
	nodes, endpoints := trioEndpoints(t, of, start)
	source := evm.New(known, jsonrpc.New(upstream.NewPool("chain-56", endpoints...)))
	db, err := store.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "orders.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	followed := query.New(follow.New(db, map[chain.ID]order.Source{56: source}, follow.Options{
		Chains: chain.Documented(), Lookback: trioBehind, Logger: slog.New(slog.DiscardHandler),
	}), query.Options{})
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = followed.Run(ctx) }) // ends with ctx
	defer running.Wait()
	defer stop()

	caughtUp := time.Duration(0)
	var worst uint64
	for range 1200 {
		<-time.After(100 * time.Millisecond)
		behind := of.head() - min(followed.Basis().Chains[0].Indexed, of.head())
		if caughtUp == 0 && behind <= 3 {
			caughtUp = time.Since(of.began)
		}
		if caughtUp > 0 {
			worst = max(worst, behind)
		}
	}
	stop()
	running.Wait()
	t.Logf("caught up after %v, then at most %d blocks behind; asked %d, %d and %d times", caughtUp, worst, nodes[0].requests(), nodes[1].requests(), nodes[2].requests())
	if caughtUp == 0 || caughtUp > time.Minute {
		t.Errorf("caught up after %v, want a minute at most", caughtUp)
	}
	if worst > trioLevel {
		t.Errorf("%d blocks behind after having caught up, want at most %d", worst, trioLevel)
	}
}

func newRandom(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }
