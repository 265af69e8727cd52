package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

// Findings are what an endpoint of an EVM chain or of TRON was seen to do. Zero values: it was not seen to.
type Findings struct {
	LogSpan      uint64   `json:"logSpan"`      // blocks that one search takes, of the spans that were tried
	LogDepth     uint64   `json:"logDepth"`     // blocks behind its head from where logs could be had
	LogTimes     *bool    `json:"logTimes"`     // the logs that it listed have their blocks' times; null: it listed none
	BlockDepth   uint64   `json:"blockDepth"`   // likewise blocks
	StateDepth   uint64   `json:"stateDepth"`   // likewise state
	Batch        int      `json:"batch"`        // calls in one request, of the sizes that were tried
	FinalizedLag *uint64  `json:"finalizedLag"` // blocks from its head to what it calls finalized; null: it knows no such block
	UnknownTags  []string `json:"unknownTags"`  // of finalized and safe
	Simulates    bool     `json:"simulates"`    // it has eth_simulateV1
	LogRefusal   string   `json:"logRefusal,omitempty"`
	Quirks       []Quirk  `json:"quirks,omitempty"` // what it refused
}

// What is tried, the best first. Together with the identity an endpoint gets some 35 calls.
var (
	triedSpans   = []uint64{10_000, 2_000, 500, 50}
	triedDepths  = []uint64{5_000_000, 100_000, 5_000}
	triedStates  = []uint64{100_000, 120}
	triedBatches = []int{10, 3}
)

// counting counts the HTTP requests of an endpoint and the calls in them, and takes the time of each answer.
type counting struct {
	requests, calls atomic.Int64

	mu    sync.Mutex
	times []time.Duration // from a request to the header of its answer
}

// RoundTrip implements http.RoundTripper.
func (c *counting) RoundTrip(r *http.Request) (*http.Response, error) {
	c.requests.Add(1)
	c.calls.Add(callsIn(r))
	began := time.Now()
	response, err := http.DefaultTransport.RoundTrip(r)
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.times = append(c.times, time.Since(began))
	}
	return response, err
}

// usual is the median time of an answer; zero without any.
func (c *counting) usual() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.times) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(c.times))[len(c.times)/2]
}

// callsIn counts the JSON-RPC calls in a request.
func callsIn(r *http.Request) int64 {
	if r.GetBody == nil {
		return 1
	}
	body, err := r.GetBody()
	if err != nil {
		return 1
	}
	defer body.Close()
	var batch []json.RawMessage
	if json.NewDecoder(body).Decode(&batch) != nil {
		return 1
	}
	return int64(len(batch))
}

// prober asks one endpoint what it can do.
type prober struct {
	chain    chain.Chain
	endpoint *upstream.Endpoint
	made     *counting
	client   *jsonrpc.Client
	head     uint64
	found    Findings
}

func newProber(c chain.Chain, each config.Endpoint) (*prober, error) {
	made := &counting{}
	o := endpointOptions(each)
	o.Client = &http.Client{Transport: made}
	e, err := upstream.NewEndpoint(o)
	if err != nil {
		return nil, err
	}
	return &prober{chain: c, endpoint: e, made: made, client: jsonrpc.New(upstream.NewPool(each.Name, e))}, nil
}

// call makes one call; its error is that of the endpoint.
func (p *prober) call(ctx context.Context, out any, method string, params ...any) error {
	err := p.client.Call(ctx, method, out, params...)
	if quirk, is := quirkOf(method, err); is && !slices.Contains(p.found.Quirks, quirk) {
		p.found.Quirks = append(p.found.Quirks, quirk)
	}
	return err
}

// run finds out what the endpoint, which serves the right chain up to head, can do.
func (p *prober) run(ctx context.Context, head uint64) {
	p.head = head
	p.searchLogs(ctx)
	p.found.BlockDepth = p.deepest(triedDepths, func(block uint64) bool {
		_, has := p.block(ctx, hexadecimal(block))
		return has
	})
	p.found.StateDepth = p.deepest(triedStates, func(block uint64) bool {
		var balance string
		err := p.call(ctx, &balance, "eth_getBalance", p.chain.Contracts.DlnSource.String(), hexadecimal(block))
		return err == nil && balance != ""
	})
	if final, has := p.block(ctx, "finalized"); has {
		p.found.FinalizedLag = new(head - min(final, head))
	} else {
		p.found.UnknownTags = append(p.found.UnknownTags, "finalized")
	}
	if _, has := p.block(ctx, "safe"); !has {
		p.found.UnknownTags = append(p.found.UnknownTags, "safe")
	}
	var blocks []struct{ Number string }
	empty := map[string]any{"blockStateCalls": []any{map[string]any{}}}
	p.found.Simulates = p.call(ctx, &blocks, "eth_simulateV1", empty, "latest") == nil && len(blocks) == 1
	p.tryBatches(ctx)
}

// depthsWithin are the depths that are tried on a chain of so many blocks: where it is shorter, its second block.
func depthsWithin(tried []uint64, head uint64) (depths []uint64) {
	for _, depth := range tried {
		if depth = min(depth, max(head, 1)-1); depth > 0 && !slices.Contains(depths, depth) {
			depths = append(depths, depth)
		}
	}
	return depths
}

// isShallow reports whether more depth was tried on a chain of so many blocks than was found.
func isShallow(depth uint64, tried []uint64, head uint64) bool {
	depths := depthsWithin(tried, head)
	return len(depths) > 0 && depth < depths[0]
}

// deepest is how many blocks before the head something can be had, of the depths that are tried; zero: at none.
func (p *prober) deepest(tried []uint64, has func(block uint64) bool) uint64 {
	for _, depth := range depthsWithin(tried, p.head) {
		if has(p.head - depth) {
			return depth
		}
	}
	return 0
}

// block asks for the number of a block, by that or by a tag.
func (p *prober) block(ctx context.Context, at string) (number uint64, has bool) {
	var found struct{ Number string }
	if p.call(ctx, &found, "eth_getBlockByNumber", at, false) != nil {
		return 0, false
	}
	number, err := strconv.ParseUint(found.Number, 0, 64)
	return number, err == nil
}

// searchLogs finds how many blocks a search takes, and how old they may be.
func (p *prober) searchLogs(ctx context.Context) {
	for _, span := range triedSpans {
		err := p.logs(ctx, p.head-min(span-1, p.head), p.head)
		if err == nil {
			p.found.LogSpan = span
			break
		}
		p.found.LogRefusal = err.Error()
	}
	if p.found.LogSpan == 0 {
		return
	}
	p.found.LogRefusal = ""
	p.found.LogDepth = p.deepest(triedDepths, func(block uint64) bool { return p.logs(ctx, block, block) == nil })
}

func (p *prober) logs(ctx context.Context, from, to uint64) error {
	var logs []struct{ BlockTimestamp string }
	err := p.call(ctx, &logs, "eth_getLogs", map[string]any{
		"fromBlock": hexadecimal(from), "toBlock": hexadecimal(to), "address": p.chain.Contracts.DlnSource.String(),
	})
	if err == nil && len(logs) > 0 {
		p.found.LogTimes = new(logs[0].BlockTimestamp != "")
	}
	return err
}

// tryBatches counts how many requests some calls become: one that takes no batch of them gets several.
func (p *prober) tryBatches(ctx context.Context) {
	for _, size := range triedBatches {
		calls := make([]*jsonrpc.Call, size)
		for i := range calls {
			calls[i] = &jsonrpc.Call{Method: "eth_getBlockByNumber", Params: []any{hexadecimal(p.head - min(uint64(i), p.head)), false}, Out: new(any)}
		}
		before := p.made.requests.Load()
		// A new client has not learned yet what the endpoint takes.
		err := jsonrpc.New(upstream.NewPool(p.endpoint.Name(), p.endpoint)).Batch(ctx, calls...)
		if err == nil && p.made.requests.Load() == before+1 && !hasFailed(calls) {
			p.found.Batch = size
			return
		}
	}
	p.found.Batch = 1
}

func hasFailed(calls []*jsonrpc.Call) bool {
	for _, call := range calls {
		if call.Err != nil {
			return true
		}
	}
	return false
}

func hexadecimal(number uint64) string { return fmt.Sprintf("0x%x", number) }

// mostAhead is how far a block may be ahead of this machine's clock, in seconds: nodes accept no more than 15 s.
const mostAhead = 60

// checkClock compares the newest block's time with this machine's clock, by which answers are kept and heads are
// judged.
func (p *prober) checkClock(ctx context.Context) (wrong string) {
	var block struct{ Timestamp string }
	if p.call(ctx, &block, "eth_getBlockByNumber", "latest", false) != nil {
		return ""
	}
	at, err := strconv.ParseInt(block.Timestamp, 0, 64)
	if ahead := at - time.Now().Unix(); err == nil && ahead > mostAhead {
		return fmt.Sprintf("its newest block is %d s ahead of this machine's clock: set the clock", ahead)
	}
	return ""
}

// checkProtocol asks the order contracts which chain they are for: by the protocol's own number.
func (p *prober) checkProtocol(ctx context.Context) (wrong string) {
	const getChainID = "0x3408e470" // getChainId()
	var said string
	err := p.call(ctx, &said, "eth_call", map[string]any{"to": p.chain.Contracts.DlnSource.String(), "data": getChainID}, "latest")
	if err != nil || len(said) != 66 {
		return "" // an older contract, or one of a test
	}
	id, err := strconv.ParseUint(strings.TrimLeft(said[2:], "0"), 16, 64)
	if err != nil || chain.ID(id) == p.chain.ID {
		return ""
	}
	return fmt.Sprintf("dlnSource: the contract is for chain %d of the protocol, not %d", id, p.chain.ID)
}
