package gateway

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/internal/must"
	"crossgate/internal/pooltest"
	"crossgate/internal/rpctest"
	"crossgate/order"
	"crossgate/order/follow"
	"crossgate/order/query"
	"crossgate/store"
	"crossgate/upstream"
	"crossgate/upstream/evm"
	"crossgate/upstream/evm/seal"
	"crossgate/upstream/jsonrpc"
	"crossgate/upstream/solana"
)

// calm is a chain without events of the order protocol, with real block times and bloom filters as full as those of a
// busy chain: all its nodes, and a count of their calls.
type calm struct {
	chain chain.Chain
	began time.Time
	// final is how many blocks the finalized tag is behind.
	final uint64
	// span is the most blocks per search; zero: unlimited.
	span uint64
	// isQuiet marks a chain whose filters only have a bit that no event of the protocol sets.
	isQuiet bool

	meters []*meter // of its endpoints, if they are metered

	mu     sync.Mutex
	calls  map[string]int
	hashes []chain.Hash
}

// newCalm returns a chain of the configuration that begins now.
func newCalm(c config.Config, id chain.ID) *calm {
	known, _ := c.Registry().Chain(id)
	final, is := finalBehind[id]
	if !is {
		final = 2
	}
	return &calm{chain: known, began: time.Now(), final: final, calls: map[string]int{}}
}

// onVirtualClock runs a test in a bubble whose clock stands still while a goroutine works, with a database opened
// outside it and the index options of the default configuration.
func onVirtualClock(t *testing.T, test func(t *testing.T, db *store.DB, c config.Config, o follow.Options)) {
	t.Helper()
	db := must.Get(store.OpenSQLite(t.Context(), t.TempDir()+"/orders.db"))(t)
	t.Cleanup(func() { _ = db.Close() })
	synctest.Test(t, func(t *testing.T) {
		c := config.Default()
		test(t, db, c, (&parts{registry: c.Registry()}).followOptions(c.Index, slog.New(slog.DiscardHandler), nil))
	})
}

// calmSince makes the chain old enough for any lookback.
const calmSince = 100 * 24 * time.Hour

func (c *calm) head() uint64 {
	return uint64((time.Since(c.began) + calmSince) / c.chain.BlockTime)
}

// RoundTrip implements http.RoundTripper: a node without a network.
func (c *calm) RoundTrip(r *http.Request) (*http.Response, error) {
	asked, err := rpctest.Read(r)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return pooltest.Answer(http.StatusOK, asked.Answer(func(call rpctest.Call) string {
		c.calls[call.Method]++
		if from, to := searched(call); c.span > 0 && to-from >= c.span {
			return rpctest.Fault(-32602, fmt.Sprintf("exceed max block range: %d", c.span))
		}
		return `"result":` + c.answer(call)
	})), nil
}

func (c *calm) answer(call rpctest.Call) string {
	params := call.Params
	switch call.Method {
	case "eth_chainId":
		return fmt.Sprintf(`"0x%x"`, c.chain.Native)
	case "eth_blockNumber":
		return fmt.Sprintf(`"0x%x"`, c.head())
	case "eth_getLogs", "eth_getBlockReceipts", "getSignaturesForAddress":
		return "[]"
	case "eth_getBlockByNumber":
		return c.header(string(bytes.Trim(params[0], `"`)))
	case "getGenesisHash":
		return strconv.Quote(c.chain.Genesis.Format(chain.SVM))
	case "getSlot":
		return strconv.FormatUint(c.head(), 10)
	case "getBlocks":
		var from, to uint64
		if json.Unmarshal(params[0], &from) != nil || json.Unmarshal(params[1], &to) != nil {
			return "null"
		}
		slots := []string{}
		for to = min(to, c.head()); from <= to; from++ {
			slots = append(slots, strconv.FormatUint(from, 10))
		}
		return "[" + strings.Join(slots, ",") + "]"
	case "getBlock":
		var slot uint64
		if json.Unmarshal(params[0], &slot) != nil || slot > c.head() {
			return "null"
		}
		return fmt.Sprintf(`{"blockhash":%q,"previousBlockhash":%q,"parentSlot":%d,"blockTime":%d}`,
			c.hash(slot).Format(chain.SVM), c.hash(slot-1).Format(chain.SVM), slot-1, c.timeOf(slot))
	}
	return "null"
}

// searched returns the first and the last block of a log search, or zeros for other calls and searches by block hash.
func searched(call rpctest.Call) (from, to uint64) {
	var filter struct{ FromBlock, ToBlock string }
	if call.Method == "eth_getLogs" {
		_ = json.Unmarshal(call.Params[0], &filter)
	}
	from, _ = strconv.ParseUint(filter.FromBlock, 0, 64)
	to, _ = strconv.ParseUint(filter.ToBlock, 0, 64)
	return from, to
}

func (c *calm) header(block string) string {
	number := c.head()
	switch block {
	case "latest":
	case "finalized":
		number -= c.final
	default:
		asked, err := strconv.ParseUint(block, 0, 64)
		if err != nil || asked > number {
			return "null"
		}
		number = asked
	}
	return fmt.Sprintf(`{"hash":"%s",%s}`, c.hash(number), c.sealed(number))
}

// sealed returns the members of a header that determine its hash.
func (c *calm) sealed(number uint64) string {
	const none = "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421"
	return fmt.Sprintf(`"number":"0x%x","parentHash":"%s","timestamp":"0x%x","logsBloom":"0x%s","receiptsRoot":%[5]q,"transactionsRoot":%[5]q,"stateRoot":%[5]q,`+
		`"sha3Uncles":%[5]q,"mixHash":%[5]q,"miner":"0x%040[6]x","difficulty":"0x0","gasLimit":"0x0","gasUsed":"0x0","extraData":"0x","nonce":"0x%016[6]x"`,
		number, c.hash(number-1), c.timeOf(number), c.bloom(number), none, 0)
}

// hash returns a header's hash by the rules of EVM chains, back to blocks that no test reads.
func (c *calm) hash(number uint64) (h chain.Hash) {
	first := uint64(calmSince/c.chain.BlockTime) - 2000
	if number < first || c.chain.Family != chain.EVM {
		binary.BigEndian.PutUint64(h[:], uint64(c.chain.ID))
		binary.BigEndian.PutUint64(h[8:], number+1)
		return h
	}
	for next := first + uint64(len(c.hashes)); next <= number; next++ {
		h, _ := seal.HeaderHash([]byte("{" + c.sealed(next) + "}"))
		c.hashes = append(c.hashes, h)
	}
	return c.hashes[number-first]
}

func (c *calm) timeOf(number uint64) int64 {
	return c.began.Add(time.Duration(number)*c.chain.BlockTime - calmSince).Unix()
}

// bloom returns a filter with the bits of 80 logs a second, each with its contract and three topics.
func (c *calm) bloom(number uint64) string {
	var filter [256]byte
	if c.isQuiet {
		filter[0] = 1
	} else if c.chain.Family == chain.EVM {
		random := rand.New(rand.NewPCG(uint64(c.chain.ID), number))
		for range int(math.Ceil(80 * c.chain.BlockTime.Seconds() * 12)) {
			bit := random.IntN(2048)
			filter[bit/8] |= 1 << (bit % 8)
		}
	}
	return hex.EncodeToString(filter[:])
}

func (c *calm) total() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	total := 0
	for _, calls := range c.calls {
		total += calls
	}
	return total
}

// source returns the adapter of the chain as in a gateway.
func (c *calm) source(t *testing.T, configured config.Config, own config.Chain) order.Source {
	t.Helper()
	var endpoints []*upstream.Endpoint
	for _, each := range own.Endpoints {
		endpoints = append(endpoints, pooltest.Endpoint(t, each.Name, nil, upstream.EndpointOptions{
			URL: each.URL.Reveal(), Timeout: each.Timeout, RequestsPerSecond: each.RequestsPerSecond, Burst: each.Burst, Transport: c.metered(each),
		}))
	}
	rpc, lag := jsonrpc.New(upstream.NewPool(c.chain.Name, endpoints...)), Lag(c.chain.BlockTime)
	if c.chain.Family == chain.SVM {
		rpc.CompareHeads(lag, solana.HeadCall(), nil)
		return solana.New(c.chain, rpc)
	}
	rpc.CompareHeads(lag, evm.HeadCall(), evm.LinkCall)
	return evm.New(c.chain, rpc)
}

// meter counts the calls to one endpoint, and how many of them exceed its rate and burst.
type meter struct {
	http.RoundTripper
	name             string
	perSecond, burst float64

	mu          sync.Mutex
	left        float64
	at          time.Time
	calls, over int
}

// metered returns the transport to an endpoint of the chain.
func (c *calm) metered(e config.Endpoint) http.RoundTripper {
	if c.meters == nil {
		return c
	}
	m := &meter{RoundTripper: c, name: e.Name, perSecond: e.RequestsPerSecond, burst: float64(e.Burst), left: float64(e.Burst), at: time.Now()}
	c.meters = append(c.meters, m)
	return m
}

// RoundTrip implements http.RoundTripper.
func (m *meter) RoundTrip(r *http.Request) (*http.Response, error) {
	asked, err := rpctest.Read(r)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	calls := len(asked.Calls)
	m.calls += calls
	m.left, m.at = min(m.left+m.perSecond*time.Since(m.at).Seconds(), m.burst), time.Now()
	if m.left -= min(float64(calls), m.burst); m.left < -0.01 {
		m.over += calls
	}
	m.mu.Unlock()
	return m.RoundTripper.RoundTrip(r)
}

// settled runs an index until the returned stop, which waits for its end. It returns once the index has run for a
// while, and clears the chains' call counts. It sleeps by the clock of the test's bubble.
func settled(t *testing.T, x *query.Index, while time.Duration, chains map[chain.ID]*calm) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	running := make(chan error, 1)
	go func() { running <- x.Run(ctx) }()
	begun := min(while, time.Minute)
	time.Sleep(begun)
	started := 0
	for _, each := range chains {
		started += each.total()
	}
	t.Logf("all chains: %d calls in the first %v", started, begun)
	time.Sleep(while - begun)
	for _, each := range chains {
		each.mu.Lock()
		clear(each.calls)
		each.mu.Unlock()
	}
	return func() {
		cancel()
		<-running
	}
}

// finalBehind is how many blocks the finalized tag of some chains' nodes is behind; the default is 2.
var finalBehind = map[chain.ID]uint64{
	1: 80, 10: 600, 8453: 600, 100000021: 600, 100000023: 600, 42161: 3500, 4663: 8239, 59144: 2000, 100000017: 9000,
	100000025: 9000, 100000031: 900, 100000026: 19, 100000002: 30, chain.Solana: 32,
}

// askAround keeps asking about some chains for a time, and returns samples of the age of each one's newest indexed
// block. It sleeps by the clock of the test's bubble, which stands still while a goroutine works.
func askAround(x *query.Index, chains map[chain.ID]*calm, asked []chain.ID, during time.Duration) map[chain.ID][]time.Duration {
	ages := map[chain.ID][]time.Duration{}
	const interval = 333 * time.Millisecond
	x.AskedAbout(asked...)
	time.Sleep(10 * time.Second) // until it has caught up the chain itself answers, here at 5 calls a second
	for range during / interval {
		time.Sleep(interval)
		x.AskedAbout(asked...)
		for _, at := range x.Basis().Chains {
			if slices.Contains(asked, at.Chain) {
				c := chains[at.Chain]
				made := c.began.Add(time.Duration(at.Indexed)*c.chain.BlockTime - calmSince)
				ages[at.Chain] = append(ages[at.Chain], time.Since(made))
			}
		}
	}
	return ages
}

// TestEndpointsWithAWebSocketAnnounceHeads connects to a configured WebSocket, before and after a reload.
func TestEndpointsWithAWebSocketAnnounceHeads(t *testing.T) {
	var asked atomic.Int64
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") == "websocket" && r.URL.Path == "/canary" && r.Header.Get("X-Key") == "canary" {
			asked.Add(1)
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(node.Close)
	c := parsed(t, `chains: [{id: 1, endpoints: [{name: polled, url: "https://example.com"}, `+
		`{name: node, url: "https://example.com", headers: {X-Key: canary}, websocket: "ws`+strings.TrimPrefix(node.URL, "http")+`/canary"}]}]`)
	first := built(t, c, nil)
	t.Cleanup(first.close)
	second := built(t, c, first)
	t.Cleanup(second.close)
	for _, p := range []*parts{first, second} {
		announcers := p.chains[1].announcers
		if len(announcers) != 1 {
			t.Fatalf("%d announcers of Ethereum's heads, want one", len(announcers))
		}
		err := announcers[0](t.Context(), func(order.Block) {})
		if want := "node: WebSocket: connect: refused with HTTP 404; check the address and the key of websocket"; err == nil || err.Error() != want {
			t.Errorf("the announcer ended with %v, want %s", err, want)
		}
	}
	if asked.Load() != 2 {
		t.Errorf("the WebSocket was asked for %d times with its key, want 2", asked.Load())
	}
}
