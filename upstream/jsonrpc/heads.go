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
	// headsFor is how long a head is compared with those of others: chains go on.
	headsFor = 5 * time.Second
	// headsTogether is what passes for the same moment.
	headsTogether = time.Second
	// headsEvery is the time after which an endpoint is asked for its head that has not been seen.
	headsEvery = 15 * time.Second
)

// heads compares the endpoints of a pool by how far each has come.
type heads struct {
	most  uint64 // blocks that an endpoint may be away from the others
	ask   *Call  // for a head; nil: they are not compared
	block func(number uint64) *Call

	mu     sync.Mutex
	all    []*head
	asked  time.Time // when endpoints were asked for nothing else
	linked time.Time // when two heads were last tried to be linked
}

type head struct {
	endpoint *upstream.Endpoint
	number   uint64
	seen     time.Time // zero: never
	isBeside bool      // it was compared with that of the only other endpoint, which may be as wrong
	isFar    bool      // too far from the others', and it is known that they are right
}

// CompareHeads has endpoints whose head is more than most blocks away from that of the majority asked last. Of two it
// is the one that is behind, if the other has the block after its head: block, if not nil, makes a call with a Link
// for the block of a number. Heads are learned from calls with a Head, and by ask. To be called before the client is
// used.
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

// sawHead learns how far an endpoint's chain has come. What it returns, unless nil, is to be run: it may prove that one
// of two endpoints is behind.
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
			continue // others may have gone on meanwhile
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

// place compares a head with that of the others. An endpoint that is too far away stays so until it is less than half
// as far. Beside the only other one that is not found, and it ends when the endpoint is not behind any more.
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

// linkHeads tries to prove that an endpoint is behind: that the other one has a block after its head. A majority that
// was heard meanwhile knows better.
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

// linkAt asks one endpoint for the hash of a block and of the one before it.
func (c *Client) linkAt(ctx context.Context, e *upstream.Endpoint, number uint64) (hash, parent string, known bool) {
	call := c.heads.block(number)
	got, known := c.probe(ctx, e, call)
	if known {
		hash, parent = call.Link(got.value.Addr().Interface())
	}
	return hash, parent, known
}

// probe makes a call at an endpoint in the background, for what can be learned of the endpoint by it.
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

// listen learns from the replies of an endpoint how far its chain has come.
func (c *Client) listen(e *upstream.Endpoint, calls []*Call, results rpcResults) {
	for i, call := range calls {
		number, known := results[i].head(call)
		if !known {
			continue
		}
		prove := c.sawHead(e, number)
		if prove != nil && !slices.ContainsFunc(c.pool.Endpoints(), func(e *upstream.Endpoint) bool { return e.InBackground(prove) }) {
			c.heads.mu.Lock()
			c.heads.linked = time.Time{} // all are being asked something: next time
			c.heads.mu.Unlock()
		}
	}
}

// askHeads has all endpoints asked for their head when that of one has not been seen for a while.
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
		if !each.endpoint.MayBeProbed() {
			continue
		}
		each.endpoint.InBackground(func(ctx context.Context) {
			got, known := c.probe(ctx, each.endpoint, h.ask)
			if !known {
				return
			}
			if number, known := got.head(h.ask); known {
				if prove := c.sawHead(each.endpoint, number); prove != nil {
					prove(ctx)
				}
			}
		})
	}
}
