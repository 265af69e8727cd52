package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/gateway"
	"crossgate/internal/publicnet"
	"crossgate/order"
	"crossgate/store"
	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

// Values to try in this order, the best first. Including the identity, an endpoint gets some 35 calls.
var (
	triedSpans   = []uint64{10_000, 2_000, 500, 50}       // blocks
	triedBatches = []uint64{10, 3}                        // calls
	triedPast    = []uint64{5_000_000, 100_000, 5_000, 0} // blocks before the newest
	triedStates  = []uint64{100_000, 120, 0}
)

const (
	// slow is the median response time from which an endpoint is reported as slow: an order takes some four sequential
	// calls.
	slow = 500 * time.Millisecond
	// mostAhead is how far a block may be ahead of this machine's clock: nodes accept no more than 15 s.
	mostAhead = time.Minute
	// simulation is the method that simulates transactions before they are returned.
	simulation = "eth_simulateV1"
)

type prober struct {
	chain    chain.Chain
	endpoint *upstream.Endpoint
	client   *jsonrpc.Client
	head     uint64

	mu    sync.Mutex
	times []time.Duration // of each request, up to the response header
}

func newProber(c chain.Chain, own config.Endpoint) (*prober, error) {
	p := &prober{chain: c}
	o := gateway.EndpointOptions(own)
	o.Transport = p
	var err error
	if p.endpoint, err = upstream.NewEndpoint(o); err != nil {
		return nil, err
	}
	p.client = p.fresh()
	return p, nil
}

// fresh returns a client that has not learned the endpoint's limits yet.
func (p *prober) fresh() *jsonrpc.Client {
	return jsonrpc.New(upstream.NewPool(p.endpoint.Name(), p.endpoint))
}

// RoundTrip implements http.RoundTripper. It records the time of each request.
func (p *prober) RoundTrip(r *http.Request) (*http.Response, error) {
	began := time.Now()
	response, err := http.DefaultTransport.RoundTrip(r)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.times = append(p.times, time.Since(began))
	return response, err
}

func (p *prober) requests() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.times)
}

// usual returns the median response time.
func (p *prober) usual() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.times) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(p.times))[len(p.times)/2]
}

// probe determines the limits of an endpoint that serves the right chain. d.Head must be set.
func (p *prober) probe(ctx context.Context, d *Endpoint) {
	if p.chain.Family == chain.SVM {
		var oldest uint64 // oldest block that the node keeps
		if p.client.Call(ctx, "getFirstAvailableBlock", &oldest) == nil && oldest > 1 {
			d.Limits.Depths = map[string]uint64{"blocks": d.Head - min(oldest, d.Head)}
		}
		return
	}
	p.head = d.Head
	d.Limits.Depths = make(map[string]uint64)
	p.probeLogs(ctx, d)
	p.probePast(d, "blocks", triedPast, func(block string) bool {
		_, err := p.block(ctx, block)
		return err == nil
	})
	if d.Limits.Batch = p.batch(ctx); d.Limits.Batch == triedBatches[0] {
		d.Limits.Batch = 0 // as many as needed
	}
	p.checkClock(ctx, d)
	if p.chain.Family != chain.EVM {
		return // java-tron nodes have none of the rest
	}
	p.probePast(d, "state", triedStates, func(block string) bool {
		var balance string
		return p.client.Call(ctx, "eth_getBalance", &balance, p.chain.Contracts.DlnSource.String(), block) == nil && balance != ""
	})
	for _, tag := range []string{"finalized", "safe"} {
		if _, err := p.block(ctx, tag); err != nil {
			d.Limits.Lacks = append(d.Limits.Lacks, "eth_getBlockByNumber "+tag)
		}
	}
	var blocks []struct{ Number string }
	empty := map[string]any{"blockStateCalls": []any{map[string]any{}}}
	if err := p.client.Call(ctx, simulation, &blocks, empty, "latest"); err != nil || len(blocks) != 1 {
		d.Limits.Lacks = append(d.Limits.Lacks, simulation)
	}
}

// probeLogs determines how many blocks a log search may cover, and how old they may be.
func (p *prober) probeLogs(ctx context.Context, d *Endpoint) {
	var logs []struct{ BlockTimestamp string }
	search := func(from, to string) error {
		return p.client.Call(ctx, "eth_getLogs", &logs, map[string]any{
			"fromBlock": from, "toBlock": to, "address": p.chain.Contracts.DlnSource.String(),
		})
	}
	var refused error
	for _, span := range triedSpans {
		if refused = search(hexadecimal(p.head-min(span-1, p.head)), hexadecimal(p.head)); refused != nil {
			continue
		}
		if span < triedSpans[0] {
			d.Limits.Span = span
		}
		break
	}
	if refused != nil {
		d.wrong("lists no logs: %v", refused)
		d.Limits.Lacks = append(d.Limits.Lacks, "eth_getLogs")
		return
	}
	if len(logs) > 0 && logs[0].BlockTimestamp == "" {
		d.Limits.Lacks = append(d.Limits.Lacks, "eth_getLogs times")
	}
	p.probePast(d, "logs", triedPast, func(block string) bool { return search(block, block) == nil })
}

// probePast determines the greatest of the depths tried, in blocks before the newest, at which the endpoint has a part
// of the past. On a shorter chain, the second block is the deepest.
func (p *prober) probePast(d *Endpoint, part string, tried []uint64, has func(block string) bool) {
	deepest := max(p.head, 1) - 1
	for _, depth := range tried {
		if depth = min(depth, deepest); depth > 0 && !has(hexadecimal(p.head-depth)) {
			continue
		}
		if depth < min(tried[0], deepest) {
			d.Limits.Depths[part] = depth
		}
		return
	}
}

// block requests the number and the time of a block, by its number or by a tag.
func (p *prober) block(ctx context.Context, at string) (found struct{ Number, Timestamp string }, err error) {
	err = p.client.Call(ctx, "eth_getBlockByNumber", &found, at, false)
	if err == nil && found.Number == "" {
		err = errNotJSON
	}
	return found, err
}

// batch returns how many calls the endpoint accepts in one request: the client splits a batch that it refuses.
func (p *prober) batch(ctx context.Context) uint64 {
	for _, size := range triedBatches {
		calls := make([]*jsonrpc.Call, size)
		for i := range calls {
			calls[i] = &jsonrpc.Call{Method: "eth_getBlockByNumber", Params: []any{hexadecimal(p.head - min(uint64(i), p.head)), false}, Out: new(any)}
		}
		before := p.requests()
		err := p.fresh().Batch(ctx, calls...)
		failed := slices.ContainsFunc(calls, func(c *jsonrpc.Call) bool { return c.Err != nil })
		if err == nil && !failed && p.requests() == before+1 {
			return size
		}
	}
	return 1
}

// checkClock compares the newest block's time with this machine's clock, which determines how long answers are cached
// and which heads are stale.
func (p *prober) checkClock(ctx context.Context, d *Endpoint) {
	newest, err := p.block(ctx, "latest")
	if err != nil {
		return
	}
	at, err := strconv.ParseInt(newest.Timestamp, 0, 64)
	if ahead := time.Until(time.Unix(at, 0)); err == nil && ahead > mostAhead {
		d.wrong("its newest block is %d s ahead of this machine's clock: set the clock", int(ahead.Seconds()))
	}
}

// checkBranch reports an endpoint that has another block in place of the anchor, and one whose newest block is too old.
func (p *prober) checkBranch(ctx context.Context, d *Endpoint, anchor store.Anchor) {
	source := gateway.SourceOf(p.chain, p.client)
	if head, err := source.Head(ctx); err == nil && p.chain.HeadLife() > 0 {
		at := time.Unix(int64(head.Latest.Time), 0)
		if time.Since(at) > p.chain.HeadLife() {
			d.short("stale: its newest block is of %s", at.UTC().Format(time.RFC3339))
		}
	}
	if anchor.Hash.IsAbsent() {
		return
	}
	block, err := source.Block(ctx, anchor.Number)
	if err == nil && block.Number == anchor.Number && block.Hash != anchor.Hash {
		err = fmt.Errorf("%w: its block %d is %s, not %s", order.ErrOtherBranch, anchor.Number, block.Hash, anchor.Hash)
	}
	if errors.Is(err, order.ErrOtherBranch) {
		d.wrong("%v", err)
	}
}

// checkClearText reports an endpoint that is called through public networks without TLS.
func checkClearText(d *Endpoint, own config.Endpoint) {
	for _, each := range []struct{ key, address, plain string }{{"url", own.URL.Reveal(), "http"}, {"websocket", own.WebSocket.Reveal(), "ws"}} {
		at, err := url.Parse(each.address)
		if err == nil && at.Scheme == each.plain && !isNear(at.Hostname()) {
			d.short("%s begins with %s://: calls, and the key if it has one, are sent in clear text", each.key, each.plain)
		}
	}
}

// isNear reports whether a host is on this machine or in a private network, by its name or address.
func isNear(host string) bool {
	if address, err := netip.ParseAddr(host); err == nil {
		return !publicnet.IsPublic(address)
	}
	ends := []string{".localhost", ".local", ".internal", ".lan", ".home.arpa", ".svc"} // RFC 6761, RFC 6762, RFC 8375
	return !strings.Contains(host, ".") || slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(host, end) })
}

func hexadecimal(number uint64) string { return fmt.Sprintf("0x%x", number) }
