package jsonrpc

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"crossgate/upstream"
)

const (
	// headsFor is how long a head is compared with those of others, since chains move on.
	headsFor = 5 * time.Second
	// headsTogether is the time within which heads count as seen at the same moment.
	headsTogether = time.Second
	// headsEvery is the time after which an endpoint is asked for its head if that has not been seen.
	headsEvery = 15 * time.Second
	// firstHeads is how long the first call for a head waits for those of all endpoints.
	firstHeads = 2 * time.Second
)

// heads compares the heads of a pool's endpoints.
type heads struct {
	most  uint64 // blocks that a head may be away from the others
	ask   *Call  // for a head; nil: heads are not compared
	block func(number uint64) *Call

	mu     sync.Mutex
	all    []*head
	asked  time.Time // when endpoints were last asked just for their heads
	linked time.Time // when two heads were last tried to be linked
	first  sync.Once
}

type head struct {
	endpoint *upstream.Endpoint
	number   uint64
	seen     time.Time // zero: never
	isBeside bool      // compared with only one other head, which may be just as wrong
	isFar    bool      // too far from the others', which are known to be right
}

// CompareHeads makes endpoints whose head is more than most blocks from the median be asked last. Of two endpoints that
// is the one behind, if the other has the block after its head: block, if not nil, returns a call with a Link for the
// block of a number. Heads are learned from calls with a Head, and from ask. CompareHeads must be called before the
// client is used.
func (c *Client) CompareHeads(most uint64, ask *Call, block func(number uint64) *Call) {
	h := c.heads
	if len(c.pool.Endpoints()) < 2 {
		return
	}
	h.most, h.ask, h.block = most, ask, block
	for _, e := range c.pool.Endpoints() {
		h.all = append(h.all, &head{endpoint: e})
	}
}

// sawHead records an endpoint's head. The caller must run prove unless it is nil: it may prove that one of two
// endpoints is behind.
func (c *Client) sawHead(e *upstream.Endpoint, number uint64) (prove func(context.Context)) {
	h, now := c.heads, time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	var seen []*head
	for _, each := range h.all {
		if each.endpoint == e {
			each.number, each.seen = number, now
		}
		if now.Sub(each.seen) < headsFor {
			seen = append(seen, each)
		}
	}
	slices.SortFunc(seen, func(a, b *head) int { return cmp.Compare(a.number, b.number) })
	if len(seen) < 2 {
		return nil
	}
	low, high := seen[0], seen[len(seen)-1]
	for _, each := range seen {
		if now.Sub(each.seen) >= headsTogether {
			continue // the others may have moved on since
		}
		if len(seen) > 2 {
			each.place(seen[len(seen)/2].number, h.most, false)
		} else {
			each.place(low.number+high.number-each.number, h.most, true)
		}
	}
	isUnproven := len(seen) == 2 && now.Sub(low.seen) < headsTogether && high.number-low.number > h.most && !low.isFar
	if !isUnproven || h.block == nil || now.Sub(h.linked) < headsEvery {
		return nil
	}
	h.linked = now
	number, ahead := low.number, high.endpoint
	return func(ctx context.Context) { c.linkHeads(ctx, low, number, ahead) }
}

// place compares a head with that of the others. An endpoint that is too far away stays so until it is within half of
// most. A comparison with only one other never finds it too far, but also ends that when it is no longer behind.
func (h *head) place(others, most uint64, isBeside bool) {
	if h.isFar {
		most /= 2
	}
	distance := int64(h.number) - int64(others)
	if isBeside {
		h.isFar = h.isFar && distance < 0 && uint64(-distance) > most
	} else {
		h.isFar = uint64(max(distance, -distance)) > most
	}
	h.isBeside = isBeside
	h.endpoint.SetDistance(distance, h.isFar)
}

// linkHeads tries to prove that an endpoint is behind because the other one has a block that follows its head. If a
// majority was heard in the meantime, that takes precedence.
func (c *Client) linkHeads(ctx context.Context, low *head, number uint64, ahead *upstream.Endpoint) {
	hash, _, isTold := c.linkAt(ctx, low.endpoint, number)
	_, parent, follows := c.linkAt(ctx, ahead, number+1)
	c.heads.mu.Lock()
	defer c.heads.mu.Unlock()
	if isTold && follows && hash == parent && low.isBeside {
		low.isFar = true
		distance, _ := low.endpoint.Distance()
		low.endpoint.SetDistance(distance, true)
	}
}

// linkAt asks one endpoint for the hashes of a block and of its parent.
func (c *Client) linkAt(ctx context.Context, e *upstream.Endpoint, number uint64) (hash, parent string, known bool) {
	call := c.heads.block(number)
	got, known := c.probe(ctx, e, call)
	if known {
		hash, parent = call.Link(got.value.Addr().Interface())
	}
	return hash, parent, known
}

// probe makes a call at an endpoint as background work, to learn about the endpoint.
func (c *Client) probe(ctx context.Context, e *upstream.Endpoint, call *Call) (got rpcResult, known bool) {
	response, err := e.Probe(ctx, c.controlRequest(e, call))
	if err != nil {
		return rpcResult{}, false
	}
	all, err := read([]*Call{call}, response, controlID)
	if err != nil || all.results[0].err != nil || !all.results[0].value.IsValid() {
		return rpcResult{}, false
	}
	return all.results[0], true
}

// listen learns an endpoint's head from its replies.
func (c *Client) listen(e *upstream.Endpoint, calls []*Call, results rpcResults) {
	for i, call := range calls {
		number, known := results[i].head(call)
		if !known {
			continue
		}
		prove := c.sawHead(e, number)
		if prove != nil && !slices.ContainsFunc(c.pool.Endpoints(), func(e *upstream.Endpoint) bool { return e.InBackground(prove) }) {
			c.heads.mu.Lock()
			c.heads.linked = time.Time{} // all are busy with other work: next time
			c.heads.mu.Unlock()
		}
	}
}

// askHeads asks all endpoints for their heads if that of one has not been seen for a while.
func (c *Client) askHeads() {
	h, now := c.heads, time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	isUnseen := func(each *head) bool { return now.Sub(each.seen) >= headsEvery }
	if h.ask == nil || now.Sub(h.asked) < headsEvery || !slices.ContainsFunc(h.all, isUnseen) {
		return
	}
	h.asked = now
	for _, each := range h.all {
		if each.endpoint.MayBeProbed() {
			each.endpoint.InBackground(func(ctx context.Context) { c.askHead(ctx, each.endpoint) })
		}
	}
}

func (c *Client) askHead(ctx context.Context, e *upstream.Endpoint) {
	got, _ := c.probe(ctx, e, c.heads.ask)
	if number, known := got.head(c.heads.ask); known {
		if prove := c.sawHead(e, number); prove != nil {
			prove(ctx)
		}
	}
}

// compareFirst compares the heads of all endpoints before the first of calls for one: an index begins there, and the
// endpoint may be a node that has just begun to read the chain.
func (c *Client) compareFirst(ctx context.Context, calls []*Call) {
	if !slices.ContainsFunc(calls, func(call *Call) bool { return call.Head != nil }) {
		return
	}
	c.heads.first.Do(func() {
		ctx, cancel := context.WithTimeout(ctx, firstHeads)
		defer cancel()
		var asking sync.WaitGroup
		for _, each := range c.heads.all {
			asking.Go(func() { c.askHead(ctx, each.endpoint) })
		}
		asking.Wait()
	})
}
