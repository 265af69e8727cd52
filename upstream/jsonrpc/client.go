package jsonrpc

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"crossgate/upstream"
)

const (
	// largestBatch is how many calls share one HTTP request until endpoints refuse it.
	largestBatch = 100
	// batchesAtOnce bounds how many HTTP requests one Batch makes concurrently.
	batchesAtOnce = 4
)

// Client speaks JSON-RPC 2.0 over a pool, for calls that change nothing: they may be made twice, and are joined while
// in flight. Each caller judges the result by its own Accept and Doubt. Safe for concurrent use.
type Client struct {
	pool      *upstream.Pool
	label     string // prefix of errors, usually the chain that the pool serves
	lastID    *atomic.Uint64
	abilities map[*upstream.Endpoint]*Capabilities
	identity  *identityProof // nil: endpoints need not prove their identity
	inflight  *inflightTable
	heads     *heads
	voices    *voices
	alone     map[*upstream.Endpoint]*Client // clients that ask just one endpoint
	avoided   []string                       // names of endpoints that are asked last, in the pool's order
	batches   bool                           // calls wait for others to share a request with
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

func (c *Client) separate() {
	c.alone = make(map[*upstream.Endpoint]*Client)
	for _, e := range c.pool.Endpoints() {
		alone := *c
		alone.pool = upstream.NewPool(e.Name(), e)
		alone.inflight, alone.alone = newInflightTable(alone.pool), nil
		c.alone[e] = &alone
	}
}

// Capabilities returns the capabilities of the endpoint with that name, or nil if it is not in the pool.
func (c *Client) Capabilities(endpoint string) *Capabilities {
	for e, known := range c.abilities {
		if e.Name() == endpoint {
			return known
		}
	}
	return nil
}

// Search returns how many blocks to search at once from the oldest on: as many as the endpoint accepts that would be
// asked first among those that can be expected to answer.
func (c *Client) Search(method string, oldest Reach) (blocks uint64) {
	oldest.Blocks = 1
	call := &Call{Method: method, Reach: oldest}
	next := c.pool.Next(method, c.avoided, c.suits([]*Call{call}))
	if next == nil {
		return 1
	}
	return c.abilities[next].Span()
}

// Lacks reports whether every endpoint is known to lack a method or, if part is not empty, to reject that field of its
// parameters or tag in them.
func (c *Client) Lacks(method, part string) bool {
	call := &Call{Method: method}
	if part != "" {
		call.Reach.Fields = []string{part}
	}
	return !slices.ContainsFunc(c.pool.Endpoints(), func(e *upstream.Endpoint) bool { return c.abilities[e].can(call, false) })
}

// suits returns a function that reports whether an endpoint can be expected to answer calls.
func (c *Client) suits(calls []*Call) func(*upstream.Endpoint) bool {
	return func(e *upstream.Endpoint) bool {
		known := c.abilities[e]
		return uint64(len(calls)) <= known.Batch() &&
			!slices.ContainsFunc(calls, func(call *Call) bool { return !known.can(call, len(c.avoided) > 0) || known.isSpent(call.Method) })
	}
}

// batchWidth returns how many calls to make at once: as many as any endpoint accepts that can answer them now, or else
// as many as the one that would be asked first.
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

// Call makes one call and decodes its result into out, a pointer. An error object that every endpoint would return is
// returned as an *Error. If no endpoint answered, the error is an *upstream.Error, with an *Error among its causes.
func (c *Client) Call(ctx context.Context, method string, out any, params ...any) error {
	call := &Call{Method: method, Params: params, Out: out}
	_ = c.Batch(ctx, call) // the same as call.Err
	return call.Err
}

// Beside posts a body to a path beside the endpoints' own, such as a sibling of /jsonrpc, and has the response read,
// retrying as Each does. If an endpoint has no such path, or read returns an error, the next one is asked.
func (c *Client) Beside(ctx context.Context, path string, body []byte, read func([]byte) error) (err error) {
	c.repeat(ctx, func() (again bool) {
		_, err = c.pool.Do(ctx, upstream.Request{Path: "../" + path, Body: body}, func(r upstream.Response) error {
			err := fmt.Errorf("has no %s", path)
			if r.Status == http.StatusOK {
				err = read(r.Body)
			}
			if err != nil {
				err = &upstream.Error{Class: upstream.Rejected, Status: r.Status, Err: err}
			}
			return err
		})
		class := upstream.ClassOf(err)
		return class == upstream.Unreachable || class == upstream.ServerError
	})
	return err
}

// Batch makes all calls, in one HTTP request if the endpoints accept as many at once, and sets each call's Err. It
// returns an error only if no call was answered; every call then has an error, too.
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
	var working sync.WaitGroup
	var isAnswered atomic.Bool
	slots := make(chan struct{}, batchesAtOnce)
	for chunk := range slices.Chunk(calls, width) {
		slots <- struct{}{}
		working.Go(func() {
			defer func() { <-slots }()
			if c.exchange(ctx, chunk, 0) == nil {
				isAnswered.Store(true)
			}
		})
	}
	working.Wait()
	if !isAnswered.Load() {
		return calls[0].Err
	}
	return nil
}

// All is Each for calls that must all succeed. It returns the error of the first call that failed.
func (c *Client) All(ctx context.Context, calls ...*Call) error {
	c.Each(ctx, calls...)
	return firstError(calls)
}

// Insist is All, but a call that one endpoint says to fail everywhere is made at another one, too; see Again.
func (c *Client) Insist(ctx context.Context, calls ...*Call) error {
	c.Each(ctx, calls...)
	c.Again(ctx, calls...)
	return firstError(calls)
}

func firstError(calls []*Call) error {
	for _, call := range calls {
		if call.Err != nil {
			return call.Err
		}
	}
	return nil
}

// Each is Batch for calls that a caller waits for. It repeats only calls that failed for a transient reason, as far as
// the deadline of ctx and the pool's retry budget allow.
func (c *Client) Each(ctx context.Context, calls ...*Call) {
	c.repeat(ctx, func() (again bool) {
		_ = c.Batch(ctx, calls...) // each call has its error
		calls = slices.DeleteFunc(slices.Clone(calls), func(call *Call) bool { return !call.failedInPassing() })
		return len(calls) > 0
	})
}

// repeat calls ask, a few times, until it returns false.
func (c *Client) repeat(ctx context.Context, ask func() (again bool)) {
	const most = 4
	for round := 0; ask() && round < most && c.pool.Retry(ctx, round); round++ {
	}
}

// failedInPassing reports whether the call may well succeed a moment later at the same endpoint: the response was
// unreadable or missing, as from one of many nodes, or the node had an internal error, or was asked too often and did
// not state a wait.
func (c *Call) failedInPassing() bool {
	failed, is := errors.AsType[*upstream.Error](c.Err)
	if !is {
		return false // no error, or one that every endpoint would return
	}
	said, isObject := errors.AsType[*Error](c.Err)
	switch failed.Class {
	case upstream.Unreachable, upstream.ServerError, upstream.BadAnswer:
		return true
	case upstream.Rejected:
		return !isObject && !c.Lasting || isObject && (said.Code == codeInternal || c.Passing != nil && c.Passing(said))
	case upstream.RateLimited:
		return (isObject || failed.Status != 0) && failed.RetryAfter == 0
	}
	return false
}

// exchange makes calls in one HTTP request, unless another caller is making equal ones; joined counts the batches in
// flight that were joined before and left the calls open.
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

// lose handles calls for which the endpoints returned only err. If none of them accepts as many calls at once, it
// halves them.
func (c *Client) lose(ctx context.Context, calls []*Call, err error, joined int) error {
	refused, is := errors.AsType[*batchRefusedError](err)
	switch {
	case !is, len(calls) == 1 && (refused.isUnsure || isForOne(err, calls)):
		return fail(calls, c.failure(calls[0], err))
	case refused.isUnsure:
		return c.loseDoubtful(ctx, calls, joined)
	case len(calls) == 1:
		return c.exchange(ctx, calls, joined) // other calls, or a proof, had gone with it
	}
	half := (len(calls) + 1) / 2
	if first, second := c.exchange(ctx, calls[:half], joined), c.exchange(ctx, calls[half:], joined); first != nil {
		return second
	}
	return nil
}

// loseDoubtful makes one call by itself out of a batch that failed for no stated reason: an endpoint that answers it
// does not accept batches.
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
