package jsonrpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"crossgate/upstream"
)

const (
	// largestBatch is how many calls share one HTTP request unless the endpoints refuse that many.
	largestBatch = 100
	// batchesAtOnce bounds how many HTTP requests one Batch makes at a time.
	batchesAtOnce = 4
)

// Client speaks JSON-RPC 2.0 over a pool, for calls that change nothing: they may be made twice, and are joined while
// in flight. Each caller judges the result by its own Accept and Doubt. Safe for concurrent use.
type Client struct {
	pool      *upstream.Pool
	label     string // that errors begin with, as a rule what the pool serves
	lastID    *atomic.Uint64
	abilities map[*upstream.Endpoint]*Capabilities
	identity  *identityProof // nil: endpoints are taken for what they are configured as
	inflight  *inflightTable
	heads     *heads
	voices    *voices
	alone     map[*upstream.Endpoint]*Client // that ask one endpoint
	avoided   []string                       // endpoints that are asked last, in the pool's sequence
	batches   bool                           // calls wait for those of others
}

// New returns a client that asks the endpoints of p.
func New(p *upstream.Pool) *Client {
	c := &Client{
		pool: p, lastID: new(atomic.Uint64), abilities: make(map[*upstream.Endpoint]*Capabilities), inflight: newInflightTable(p),
		heads: new(heads), voices: newVoices(p.Endpoints()),
	}
	for _, e := range p.Endpoints() {
		c.abilities[e] = newCapabilities()
	}
	c.separate()
	return c
}

// separate makes the clients that ask one endpoint.
func (c *Client) separate() {
	c.alone = make(map[*upstream.Endpoint]*Client)
	for _, e := range c.pool.Endpoints() {
		alone := *c
		alone.pool = upstream.NewPool(e.Name(), e)
		alone.inflight, alone.alone = newInflightTable(alone.pool), nil
		c.alone[e] = &alone
	}
}

// Sent returns how many calls were sent to the endpoints so far, those of repeated attempts and the proofs of who the
// endpoints are among them.
func (c *Client) Sent() uint64 { return c.lastID.Load() }

// Capabilities returns what the endpoint of that name can do; nil for one that is not in the pool.
func (c *Client) Capabilities(endpoint string) *Capabilities {
	for e, known := range c.abilities {
		if e.Name() == endpoint {
			return known
		}
	}
	return nil
}

// Search returns how many blocks to search at once from one on: as many as the endpoint takes that would be asked first
// among those that can be expected to answer.
func (c *Client) Search(method string, oldest Reach) (blocks uint64) {
	oldest.Blocks = 1
	call := &Call{Method: method, Reach: oldest}
	next := c.pool.Next(method, c.avoided, c.suits([]*Call{call}))
	if next == nil {
		return 1
	}
	return c.abilities[next].Span()
}

// Lacks reports whether every endpoint is known not to have a method or, where one is named, not to take a field of its
// parameters, or a tag in them.
func (c *Client) Lacks(method, part string) bool {
	call := &Call{Method: method}
	if part != "" {
		call.Reach.Fields = []string{part}
	}
	for _, known := range c.abilities {
		if known.can(call, false) {
			return false
		}
	}
	return true
}

// suits says which endpoints can be expected to answer calls; nil: all.
func (c *Client) suits(calls []*Call) func(*upstream.Endpoint) bool {
	return func(e *upstream.Endpoint) bool {
		known := c.abilities[e]
		return uint64(len(calls)) <= known.Batch() &&
			!slices.ContainsFunc(calls, func(call *Call) bool { return !known.can(call, len(c.avoided) > 0) || known.isSpent(call.Method) })
	}
}

// batchWidth is how many calls to make at once: as many as an endpoint takes that can answer them now, or else the one
// that would be asked first.
func (c *Client) batchWidth(calls []*Call) (width int) {
	if len(calls) == 1 && !c.batches {
		return 1
	}
	suits := c.suits(calls[:1])
	for e, known := range c.abilities {
		if e.IsReady() && suits(e) {
			width = max(width, int(known.Batch()))
		}
	}
	if next := c.pool.Next(kindOf(calls), c.avoided, suits); width == 0 && next != nil {
		width = int(c.abilities[next].Batch())
	}
	return max(width, 1)
}

// Name returns the pool's name.
func (c *Client) Name() string { return c.pool.Name() }

// Call makes one call and decodes its result into out, a pointer. An error object that any endpoint would give is
// returned as an *Error; any other as an *upstream.Error, with an *Error among its causes, when no endpoint answered.
func (c *Client) Call(ctx context.Context, method string, out any, params ...any) error {
	call := &Call{Method: method, Params: params, Out: out}
	_ = c.Batch(ctx, call) // which is the call's
	return call.Err
}

// Beside posts a body to a path beside the endpoints' own, as below the folder of /jsonrpc, and decodes the response
// into out, as Each does. An endpoint without such a path refuses that, and the next one is asked.
func (c *Client) Beside(ctx context.Context, path string, body []byte, out any) (err error) {
	c.repeat(ctx, func() (again bool) {
		_, err = c.pool.Do(ctx, upstream.Request{Path: "../" + path, Body: body}, func(r upstream.Response) error {
			if r.Status == http.StatusOK && json.Unmarshal(r.Body, out) == nil {
				return nil
			}
			return &upstream.Error{Class: upstream.Rejected, Status: r.Status, Err: fmt.Errorf("has no %s", path)}
		})
		class := upstream.ClassOf(err)
		return class == upstream.Unreachable || class == upstream.ServerError
	})
	return err
}

// Batch makes all calls, in one HTTP request when the endpoints take that many at once, and sets each
// call's Err. It returns an error only when nothing could be had; then every call has one too.
func (c *Client) Batch(ctx context.Context, calls ...*Call) error {
	if len(calls) == 0 {
		return nil
	}
	beside := c.besides(ctx, calls)
	defer func() {
		beside()
		c.corroborate(ctx, calls)
	}()
	width := c.batchWidth(calls)
	if len(calls) <= width {
		return c.exchange(ctx, calls, 0)
	}
	var (
		working sync.WaitGroup
		slots   = make(chan struct{}, batchesAtOnce)
		mu      sync.Mutex
		lost    []error
		chunks  int
	)
	for chunk := range slices.Chunk(calls, width) {
		chunks++
		slots <- struct{}{}
		working.Go(func() {
			defer func() { <-slots }()
			if err := c.exchange(ctx, chunk, 0); err != nil {
				mu.Lock()
				lost = append(lost, err)
				mu.Unlock()
			}
		})
	}
	working.Wait()
	if len(lost) == chunks {
		return lost[0]
	}
	return nil
}

// All is Each for calls that must all succeed. It returns the error of the first that did not.
func (c *Client) All(ctx context.Context, calls ...*Call) error {
	c.Each(ctx, calls...)
	for _, call := range calls {
		if call.Err != nil {
			return call.Err
		}
	}
	return nil
}

// Each is Batch for calls that a caller waits for. Those that failed for a reason that may pass by itself are repeated,
// and no others, as far as the deadline of ctx and the pool's retry budget allow.
func (c *Client) Each(ctx context.Context, calls ...*Call) {
	c.repeat(ctx, func() (again bool) {
		_ = c.Batch(ctx, calls...) // each call has its error
		calls = slices.DeleteFunc(slices.Clone(calls), func(call *Call) bool { return !call.failedInPassing() })
		return len(calls) > 0
	})
}

// repeat has something asked again while it says so, a few times.
func (c *Client) repeat(ctx context.Context, ask func() (again bool)) {
	const most = 4
	for round := 0; ask() && round < most && c.pool.Retry(ctx, round); round++ {
	}
}

// failedInPassing reports whether the call may well succeed a moment later at the same endpoint: what came back cannot
// be read or is not there, as at one of many nodes, the node failed inside, or is asked too much and does not say how
// long.
func (c *Call) failedInPassing() bool {
	failed, is := errors.AsType[*upstream.Error](c.Err)
	if !is {
		return false // none, or what every endpoint would say
	}
	said, isObject := errors.AsType[*Error](c.Err)
	switch failed.Class {
	case upstream.Unreachable, upstream.ServerError, upstream.BadAnswer:
		return true
	case upstream.Rejected:
		return !isObject || said.Code == codeInternal || c.Passing != nil && c.Passing(said)
	case upstream.RateLimited:
		return (isObject || failed.Status != 0) && failed.RetryAfter == 0
	}
	return false
}

// exchange makes calls in one HTTP request, unless another caller is making the same; joined counts the batches in
// flight that left them open before.
func (c *Client) exchange(ctx context.Context, calls []*Call, joined int) error {
	if err := c.suspension(); err != nil {
		return fail(calls, c.failure(calls[0], err))
	}
	width := 0
	if c.batches {
		width = c.batchWidth(calls)
	}
	b, place, err := c.inflight.join(ctx, calls, c.avoided, joined < mostJoined, width)
	if err != nil {
		return fail(calls, c.failure(calls[0], err))
	}
	if place == 0 {
		c.run(ctx, b)
	} else if err := c.inflight.wait(ctx, b, calls, place); err != nil {
		left := &upstream.Error{Class: upstream.ClassOfContext(err), Endpoint: c.Name(), Err: err}
		return fail(calls, c.failure(calls[0], left))
	}
	best := b.resultsOf(calls, place)
	if place != 0 && (best == nil || best.isOpen()) && b.mayRetry(ctx) {
		return c.exchange(ctx, calls, joined+1)
	}
	if best == nil || best.isOpen() && len(calls) == 1 {
		return c.lose(ctx, calls, b.err, joined)
	}
	best.fill(calls, c)
	return nil
}

// lose is the end of calls that nothing could be had for but err. Where no endpoint takes so many at once it halves
// them.
func (c *Client) lose(ctx context.Context, calls []*Call, err error, joined int) error {
	refused, is := errors.AsType[*batchRefusedError](err)
	switch {
	case !is, len(calls) == 1 && (refused.isUnsure || isForOne(err, calls)):
		return fail(calls, c.failure(calls[0], err))
	case refused.isUnsure:
		return c.loseDoubtful(ctx, calls, joined)
	case len(calls) == 1:
		return c.exchange(ctx, calls, joined) // others, or a proof, had gone with it
	}
	half := (len(calls) + 1) / 2
	if first, second := c.exchange(ctx, calls[:half], joined), c.exchange(ctx, calls[half:], joined); first != nil {
		return second
	}
	return nil
}

// loseDoubtful makes one call of a batch alone, which endpoints failed at without a word: where it is answered they
// take no batches.
func (c *Client) loseDoubtful(ctx context.Context, calls []*Call, joined int) error {
	if err := c.exchange(ctx, calls[:1], joined); err != nil {
		return fail(calls[1:], err)
	}
	if by := c.Capabilities(calls[0].By); by != nil && calls[0].Err == nil {
		by.batch.refused(1)
	}
	return c.Batch(ctx, calls[1:]...)
}

func (c *Client) failure(call *Call, err error) error {
	return fmt.Errorf("%s%s: %w", c.label, call.Method, err)
}

func fail(calls []*Call, err error) error {
	for _, call := range calls {
		call.Err = err
	}
	return err
}
