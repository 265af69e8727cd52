package gateway

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/internal/must"
	"crossgate/internal/pooltest"
	"crossgate/internal/rpctest"
	"crossgate/order"
	"crossgate/order/follow"
	"crossgate/store"
	"crossgate/upstream"
	"crossgate/upstream/evm"
	"crossgate/upstream/jsonrpc"
)

// The trio imitates the free endpoints of a quick chain: each can do something that the others cannot.
const (
	trioBlockTime = 450 * time.Millisecond
	trioBehind    = 42_000 // blocks that the index has to read
	trioRate      = 5      // requests a second that each endpoint accepts
	trioLevel     = 20     // blocks: nine seconds
)

// trioNode is one endpoint, as a transport, so that a test controls time.
type trioNode struct {
	chain   *calm
	takes   time.Duration
	span    uint64 // blocks per search; zero: it cannot search
	depth   uint64 // age in blocks up to which logs are served; zero: any
	enforce bool   // the endpoint rejects requests beyond its rate, with 429
	isWhole bool   // it rejects a batch as a whole because of one call
	random  *rand.Rand

	mu     sync.Mutex
	window []time.Time // requests of the last second
}

func (n *trioNode) RoundTrip(r *http.Request) (*http.Response, error) {
	n.mu.Lock()
	isOver := n.count()
	wait := n.takes*3/4 + time.Duration(n.random.Int64N(int64(n.takes)/2))
	n.mu.Unlock()
	select {
	case <-time.After(wait):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	if isOver && n.enforce {
		return pooltest.Answer(http.StatusTooManyRequests, "Too Many Requests"), nil
	}
	asked, err := rpctest.Read(r)
	if err != nil {
		return nil, err
	}
	isRefused := func(c rpctest.Call) bool { return strings.Contains(n.members(c), `"error"`) }
	if refused := slices.IndexFunc(asked.Calls, isRefused); refused >= 0 && n.isWhole {
		asked = rpctest.Request{Calls: asked.Calls[refused:]}
	}
	status, text := http.StatusOK, asked.Answer(n.members)
	if strings.Contains(text, "Archive") {
		status = http.StatusForbidden
	}
	return pooltest.Answer(status, text), nil
}

// count records a request and reports whether it exceeds the rate.
func (n *trioNode) count() (isOver bool) {
	now := time.Now()
	for len(n.window) > 0 && now.Sub(n.window[0]) >= time.Second {
		n.window = n.window[1:]
	}
	n.window = append(n.window, now)
	return len(n.window) > trioRate
}

func (n *trioNode) members(c rpctest.Call) string {
	from, to := searched(c)
	switch {
	case c.Method == "eth_getLogs" && n.span == 0:
		return rpctest.Fault(-32005, "limit exceeded")
	case to > 0 && n.depth > 0 && from+n.depth < n.chain.head():
		return rpctest.Fault(-32602, "Archive requests require a personal token. Get one at: https://provider.example")
	case to > 0 && to-from >= n.span:
		return rpctest.Fault(-32000, fmt.Sprintf("block range is too wide (maximum %d)", n.span))
	case !slices.Contains([]string{"eth_chainId", "eth_blockNumber", "eth_getBlockByNumber", "eth_getLogs"}, c.Method):
		return rpctest.Fault(-32601, "the method "+c.Method+" does not exist/is not available")
	}
	return `"result":` + n.chain.answer(c)
}

// TestATrioOfFreeEndpointsIsEnough has an index that is 42,000 blocks behind follow a chain of three endpoints: one
// that searches 1,000 blocks at a time, one without logs older than 10,000 blocks, one that cannot search. The index is
// level within a minute whichever is asked first, and stays level; endpoints that enforce their rate are not asked for
// more. Four starts combine each kind of refusal with each kind of answer; CROSSGATE_STARTS makes more.
func TestATrioOfFreeEndpointsIsEnough(t *testing.T) {
	for start := range must.Get(strconv.Atoi(cmp.Or(os.Getenv("CROSSGATE_STARTS"), "4")))(t) {
		t.Run(fmt.Sprintf("start %d", start), func(t *testing.T) {
			t.Parallel()
			onVirtualClock(t, func(t *testing.T, db *store.DB, c config.Config, o follow.Options) {
				of := newCalm(c, 56)
				of.chain.BlockTime, of.isQuiet, o.Lookback = trioBlockTime, true, trioBehind
				known, _ := c.Registry().Chain(56)
				source := evm.New(known, jsonrpc.New(upstream.NewPool("chain-56", trioEndpoints(t, of, start)...)))
				followed := index(follow.New(db, map[chain.ID]order.Source{56: source}, o), c.Index)
				defer settled(t, followed, 0, nil)()
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
				t.Logf("caught up after %v, then at most %d blocks behind", caughtUp, worst)
				if caughtUp == 0 || caughtUp > time.Minute {
					t.Errorf("caught up after %v, want a minute at most", caughtUp)
				}
				if worst > trioLevel {
					t.Errorf("%d blocks behind after having caught up, want at most %d", worst, trioLevel)
				}
			})
		})
	}
}

// trioEndpoints returns endpoints for the three nodes of a start, in some order.
func trioEndpoints(t *testing.T, of *calm, start int) (endpoints []*upstream.Endpoint) {
	nodes := []*trioNode{
		{takes: 250 * time.Millisecond, span: 1000}, {takes: 80 * time.Millisecond, span: 50_000, depth: 10_000}, {takes: 40 * time.Millisecond},
	}
	for _, i := range rand.New(rand.NewPCG(uint64(start), 0)).Perm(len(nodes)) {
		nodes[i].chain, nodes[i].random = of, rand.New(rand.NewPCG(uint64(start), uint64(i+1)))
		nodes[i].enforce, nodes[i].isWhole = start%2 == 1, start%4 >= 2
		endpoints = append(endpoints, pooltest.Endpoint(t, fmt.Sprintf("node-%d", i), nodes[i].RoundTrip, upstream.EndpointOptions{
			Timeout: 5 * time.Second, RequestsPerSecond: trioRate,
		}))
	}
	return endpoints
}
