package jsonrpc

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"

	"crossgate/upstream"
)

const (
	// joinFor is for how long after its start a batch is joined. What it brings may be as old as that, and those
	// who come later must not all wait for an endpoint that hangs.
	joinFor = 2 * time.Second
	// mostJoined is how many batches a caller joins one after the other, when they leave its calls open, before it
	// makes them by itself.
	mostJoined = 2
)

// inflightBatch is calls on their way through the endpoints of a pool, for all who make equal ones meanwhile. It goes
// on as long as one of them waits.
type inflightBatch struct {
	calls   []*Call // copies: nothing is written into those of the caller who started it
	keys    []callKey
	began   time.Time
	granted time.Duration // that its starter had left; zero: no limit
	expiry  expiry
	starter trace.SpanContext
	cancel  context.CancelCauseFunc
	waiting int // callers; guarded by the table's mutex

	done chan struct{}
	// What came of it, to be read after done is closed.
	replies    []replies // of one endpoint after the other
	comparison comparison
	err        error
	panicked   any
}

// callKey is what equal calls have in common.
type callKey struct {
	request string // method and parameters
	work    upstream.Work
	avoided string // endpoints that are asked last
}

// keyFor is the key of a caller's calls, all but their requests.
func keyFor(ctx context.Context) callKey {
	return callKey{work: upstream.WorkOf(ctx), avoided: strings.Join(upstream.Avoided(ctx), " ")}
}

// position is where a call is in a batch.
type position struct {
	batch *inflightBatch
	index int
}

// inflightTable holds the batches in flight over one pool: singleflight for batches.
type inflightTable struct {
	several bool // endpoints that could confirm each other
	joins   joinCounter

	mu     sync.Mutex
	newest map[callKey]position // of each call in the newest batch that may be joined
}

func newInflightTable(p *upstream.Pool) *inflightTable {
	return &inflightTable{several: len(p.Endpoints()) > 1, joins: newJoinCounter(p), newest: make(map[callKey]position)}
}

// Invalidate lets nobody join any more what is in flight: something has changed since, as the caller has just learned.
func (c *Client) Invalidate() {
	c.inflight.mu.Lock()
	defer c.inflight.mu.Unlock()
	clear(c.inflight.newest)
}

// waiter is a caller of a batch.
type waiter struct {
	batch     *inflightBatch
	isFirst   bool    // it started the batch: all calls are its own
	calls     []*Call // the caller's
	positions []int   // of each in the batch, unless it is the first
	left      error   // why the caller did not wait for the end; nil: it did
}

// join finds a place for calls: as far as possible in batches in flight that make equal ones, for the rest in a new
// one.
func (c *Client) join(ctx context.Context, calls []*Call, mayJoin bool) (waiters []*waiter, err error) {
	copies := make([]Call, len(calls))
	requests := make([]string, len(calls))
	for i, call := range calls {
		copies[i] = *call
		if copies[i].text, err = call.params(); err != nil {
			return nil, err
		}
		requests[i] = call.Method + " " + string(copies[i].text)
	}
	table, key := c.inflight, keyFor(ctx)
	table.mu.Lock()
	defer table.mu.Unlock()
	var rest []int
	for _, group := range groups(calls) {
		var b *inflightBatch
		var positions []int
		if mayJoin && !slices.ContainsFunc(group, func(i int) bool { return calls[i].Fresh }) {
			b, positions = table.find(key, requests, group)
		}
		if b == nil {
			rest = append(rest, group...)
			continue
		}
		waiters = b.admit(ctx, waiters, calls, group, positions)
	}
	if len(rest) > 0 {
		slices.Sort(rest)
		waiters = append(waiters, c.start(ctx, calls, copies, requests, rest))
	}
	return waiters, nil
}

// groups are calls, by index, that one batch has to answer together.
func groups(calls []*Call) [][]int {
	var all [][]int
	var together []int
	for i, call := range calls {
		if call.Independent {
			all = append(all, []int{i})
			continue
		}
		together = append(together, i)
	}
	if len(together) > 0 {
		all = append(all, together)
	}
	return all
}

// admit adds a group of calls to a caller's share of a batch, which it may have already. The table's mutex is held.
func (b *inflightBatch) admit(ctx context.Context, waiters []*waiter, calls []*Call, group, positions []int) []*waiter {
	at := slices.IndexFunc(waiters, func(w *waiter) bool { return w.batch == b })
	if at < 0 {
		b.waiting++
		b.expiry.extend(ctx)
		at, waiters = len(waiters), append(waiters, &waiter{batch: b})
	}
	for _, i := range group {
		waiters[at].calls = append(waiters[at].calls, calls[i])
	}
	waiters[at].positions = append(waiters[at].positions, positions...)
	return waiters
}

// find returns a young batch with all requests of a group, and their positions in it. The mutex is held. Any work joins
// what is asked for an answer, not the other way round.
func (t *inflightTable) find(key callKey, requests []string, group []int) (*inflightBatch, []int) {
	b, positions := t.findAmong(callKey{avoided: key.avoided}, requests, group)
	if b == nil && key.work != upstream.Answering {
		return t.findAmong(key, requests, group)
	}
	return b, positions
}

func (t *inflightTable) findAmong(k callKey, requests []string, group []int) (found *inflightBatch, positions []int) {
	for _, i := range group {
		k.request = requests[i]
		at, known := t.newest[k]
		if !known || found != nil && at.batch != found || time.Since(at.batch.began) > joinFor {
			return nil, nil
		}
		found, positions = at.batch, append(positions, at.index)
	}
	return found, positions
}

// start has a new batch make those calls that rest lists. Others may join it from now on, in place of older ones. The
// table's mutex is held.
func (c *Client) start(ctx context.Context, calls []*Call, copies []Call, requests []string, rest []int) *waiter {
	b := &inflightBatch{
		began: time.Now(), starter: trace.SpanContextFromContext(ctx), waiting: 1,
		done: make(chan struct{}), comparison: comparison{several: c.inflight.several},
	}
	first, key := &waiter{batch: b, isFirst: true}, keyFor(ctx)
	for at, i := range rest {
		first.calls, b.calls = append(first.calls, calls[i]), append(b.calls, &copies[i])
		key.request = requests[i]
		b.keys = append(b.keys, key)
		c.inflight.newest[b.keys[at]] = position{b, at}
	}
	b.expiry.extend(ctx)
	if deadline, limited := ctx.Deadline(); limited {
		b.granted = max(time.Until(deadline), 1)
	}
	shared, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	b.cancel = cancel
	if left := ctx.Err(); left != nil {
		c.inflight.close(b)
		cancel(left)
	}
	go c.run(sharedContext{shared, &b.expiry}, b)
	return first
}

// run asks the endpoints for the calls of a batch, in one HTTP request each, and completes it for those who wait.
func (c *Client) run(ctx context.Context, b *inflightBatch) {
	defer c.inflight.complete(b)
	defer func() { b.panicked = recover() }()
	b.err = errPanicked // unless something else is known
	_, b.err = c.pool.Run(ctx, upstream.Job{
		Kind: spanMethod(b.calls), IsRead: true, Suits: c.suits(b.calls), // there is no method here that changes anything
		Try: func(ctx context.Context, e *upstream.Endpoint, turn upstream.Turn) upstream.Reply {
			return c.attempt(ctx, e, turn, b)
		},
	})
}

var errPanicked = errors.New("panicked")

// add takes the replies of another endpoint. The error says what they leave open for the caller who started the batch.
func (b *inflightBatch) add(r replies) error {
	r.results.sign(r.by)
	b.replies = append(b.replies, r)
	return b.comparison.add(r.results)
}

// wait returns when the batch of a waiter is complete, or the caller leaves. The last one to leave cancels it.
func (t *inflightTable) wait(ctx context.Context, w *waiter) {
	if !w.isFirst {
		t.joins.add(ctx, len(w.calls))
		defer startJoin(ctx, w, t.joins.attributes).end(w)
	}
	select {
	case <-w.batch.done:
		return
	case <-ctx.Done():
	}
	if t.leave(w.batch, ctx.Err()) {
		<-w.batch.done
		return
	}
	select {
	case <-w.batch.done: // both came together
	default:
		w.left = ctx.Err()
	}
}

// leave takes note that a caller leaves, and reports whether it was the last.
func (t *inflightTable) leave(b *inflightBatch, why error) (isLast bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if b.waiting--; b.waiting > 0 {
		return false
	}
	t.close(b)
	b.cancel(why)
	return true
}

// close lets nobody join a batch any more. The mutex is held.
func (t *inflightTable) close(b *inflightBatch) {
	for _, k := range b.keys {
		if t.newest[k].batch == b {
			delete(t.newest, k)
		}
	}
}

// complete ends a batch for those who wait.
func (t *inflightTable) complete(b *inflightBatch) {
	t.mu.Lock()
	t.close(b)
	t.mu.Unlock()
	b.cancel(nil)
	close(b.done)
}

// best is the best of the results that came, as the waiter's own calls judge them; nil when there are none.
func (w *waiter) best() rpcResults {
	if w.isFirst {
		return w.batch.comparison.best
	}
	own := comparison{several: w.batch.comparison.several}
	for _, each := range w.batch.replies {
		if own.add(each.of(w.calls, w.positions)) == nil {
			break
		}
	}
	return own.best
}

// mayRetry reports whether making the calls again may bring what the batch did not: not all endpoints were asked, as
// its starter was content, or they were asked in more of a hurry than a caller with ctx is in.
func (b *inflightBatch) mayRetry(ctx context.Context) bool {
	if b.err == nil {
		return true
	}
	deadline, limited := ctx.Deadline()
	return b.granted > 0 && (!limited || time.Until(deadline) > b.granted)
}

// leaving is the error of a caller that did not wait for the end.
func (c *Client) leaving(w *waiter) error {
	return c.failure(w.calls[0], &upstream.Error{Class: upstream.ClassOfContext(w.left), Endpoint: c.Name(), Err: w.left})
}
