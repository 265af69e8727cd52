package gateway

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/chain"
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
	trioFirst     = 50_000_000
	trioLevel     = 20 // blocks: nine seconds
)

// quickChain is a chain without orders whose blocks come with time.
type quickChain struct{ began time.Time }

func (c quickChain) head() uint64 { return trioFirst + uint64(time.Since(c.began)/trioBlockTime) }

func (c quickChain) hash(number uint64) string {
	return fmt.Sprintf("0x%x", sha256.Sum256(binary.BigEndian.AppendUint64(nil, number)))
}

// block is a block as nodes write it; its filter has a bit that no event of the protocol sets.
func (c quickChain) block(number uint64) string {
	if number > c.head() {
		return "null"
	}
	filter := "0x01" + strings.Repeat("00", 255)
	return fmt.Sprintf(`{"number":"0x%x","hash":%q,"parentHash":%q,"timestamp":"0x%x","logsBloom":%q}`,
		number, c.hash(number), c.hash(number-1), 1_700_000_000+number/2, filter)
}

// trioNode is one endpoint: a transport, so that time can be a test's own.
type trioNode struct {
	chain   quickChain
	takes   time.Duration
	span    uint64 // blocks of a search; zero: none is searched
	depth   uint64 // blocks before the newest whose logs are not refused; zero: all
	enforce bool   // the endpoint refuses more than its rate, with 429
	isWhole bool   // it refuses a batch as a whole for what it refuses of it
	random  *rand.Rand

	mu     sync.Mutex
	window []time.Time // requests of the last second
	log    []trioRequest
}

func (n *trioNode) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	isOver := n.count()
	n.log = append(n.log, n.request(body))
	wait := n.takes*3/4 + time.Duration(n.random.Int64N(int64(n.takes)/2))
	n.mu.Unlock()
	select {
	case <-time.After(wait):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	status, text := http.StatusTooManyRequests, "Too Many Requests"
	if !isOver || !n.enforce {
		status, text = n.answer(body)
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(text)), Request: r}, nil
}

// requests counts them.
func (n *trioNode) requests() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.log)
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

// trioCall is a call as it is asked.
type trioCall struct {
	ID     json.RawMessage   `json:"id"`
	Method string            `json:"method"`
	Params []json.RawMessage `json:"params"`
}

// trioCalls are the calls of a request's body.
func trioCalls(body []byte) (calls []trioCall, isBatch bool, err error) {
	if isBatch = body[0] == '['; !isBatch {
		body = append(append([]byte("["), body...), ']')
	}
	err = json.Unmarshal(body, &calls)
	return calls, isBatch, err
}

// request is what a request asks for.
func (n *trioNode) request(body []byte) trioRequest {
	asked := trioRequest{at: time.Now()}
	calls, _, _ := trioCalls(body) // answer says what is wrong with them
	for _, each := range calls {
		asked.look(each.Method, each.Params, n.chain.head())
	}
	return asked
}

func (n *trioNode) answer(body []byte) (status int, text string) {
	calls, isBatch, err := trioCalls(body)
	if err != nil {
		return http.StatusBadRequest, err.Error()
	}
	var answers []string
	status = http.StatusOK
	for _, each := range calls {
		members := n.call(each.Method, each.Params)
		if strings.Contains(members, "Archive") {
			status = http.StatusForbidden
		}
		answers = append(answers, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, each.ID, members))
	}
	if !isBatch {
		return status, answers[0]
	}
	if refusal := slices.IndexFunc(answers, func(one string) bool { return strings.Contains(one, `"error"`) }); refusal >= 0 && n.isWhole {
		return status, answers[refusal]
	}
	return status, "[" + strings.Join(answers, ",") + "]"
}

func (n *trioNode) call(method string, params []json.RawMessage) (members string) {
	head := n.chain.head()
	switch method {
	case "eth_chainId":
		return `"result":"0x38"`
	case "eth_blockNumber":
		return fmt.Sprintf(`"result":"0x%x"`, head)
	case "eth_getBlockByNumber":
		switch string(params[0]) {
		case `"latest"`:
			return `"result":` + n.chain.block(head)
		case `"finalized"`:
			return `"result":` + n.chain.block(head-5)
		}
		return `"result":` + n.chain.block(number(params[0]))
	case "eth_getLogs":
		return n.search(params[0], head)
	}
	return `"error":{"code":-32601,"message":"the method ` + method + ` does not exist/is not available"}`
}

func (n *trioNode) search(filter json.RawMessage, head uint64) string {
	var asked struct {
		From  json.RawMessage `json:"fromBlock"`
		To    json.RawMessage `json:"toBlock"`
		Block *string         `json:"blockHash"`
	}
	_ = json.Unmarshal(filter, &asked) // of the client under test
	switch {
	case n.span == 0:
		return `"error":{"code":-32005,"message":"limit exceeded"}`
	case asked.Block != nil:
		return `"result":[]`
	case n.depth > 0 && number(asked.From)+n.depth < head:
		return `"error":{"code":-32602,"message":"Archive requests require a personal token. Get one at: https://provider.example"}`
	case number(asked.To)-number(asked.From) >= n.span:
		return fmt.Sprintf(`"error":{"code":-32000,"message":"block range is too wide (maximum %d)"}`, n.span)
	}
	return `"result":[]`
}

func number(text json.RawMessage) uint64 {
	n, _ := strconv.ParseUint(strings.Trim(string(text), `"x`), 0, 64)
	if hex, is := bytes.CutPrefix(bytes.Trim(text, `"`), []byte("0x")); is {
		n, _ = strconv.ParseUint(string(hex), 16, 64)
	}
	return n
}

// TestATrioOfFreeEndpointsIsEnough has an index that is 42,000 blocks behind follow a chain of three endpoints: one that
// searches 1,000 blocks at a time, one that refuses what is older than 10,000 blocks, one that does not search at all.
// It is level within a minute whoever is asked first, and stays level; endpoints that refuse what is beyond their rate
// are not asked for more, and no other is idle while calls wait for their rate.
func TestATrioOfFreeEndpointsIsEnough(t *testing.T) {
	var waited atomic.Int64 // calls that were seen to wait for a rate
	t.Run("starts", func(t *testing.T) {
		for start := range 20 {
			t.Run(fmt.Sprintf("start %d", start), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { waited.Add(followTrio(t, start)) })
			})
		}
	})
	if waited.Load() == 0 {
		t.Error("no call ever waited for an endpoint's rate: nothing is shown of idle ones")
	}
}

// trioEndpoints are the three nodes of a start, and endpoints at them in some sequence.
func trioEndpoints(t *testing.T, of quickChain, start int) (nodes []*trioNode, endpoints []*upstream.Endpoint) {
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

// followTrio returns how often a call was seen to wait for an endpoint's rate.
func followTrio(t *testing.T, start int) (waited int64) {
	of := quickChain{time.Now()}
	nodes, endpoints := trioEndpoints(t, of, start)
	known, _ := chain.Documented().Chain(56)
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
	var waiting []held
	for range 1200 {
		<-time.After(100 * time.Millisecond)
		waiting = lookForHeld(waiting, endpoints)
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
	checkNobodyIdle(t, nodes, waiting)
	t.Logf("caught up after %v, then at most %d blocks behind; asked %d, %d and %d times", caughtUp, worst, nodes[0].requests(), nodes[1].requests(), nodes[2].requests())
	if caughtUp == 0 || caughtUp > time.Minute {
		t.Errorf("caught up after %v, want a minute at most", caughtUp)
	}
	if worst > trioLevel {
		t.Errorf("%d blocks behind after having caught up, want at most %d", worst, trioLevel)
	}
	return int64(len(waiting))
}

func newRandom(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }
