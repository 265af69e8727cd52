package jsonrpc

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"crossgate/upstream"
)

const (
	// joinFor is how long after its start a batch may be joined. Its results may be that old, and later callers must
	// not all wait for an endpoint that hangs.
	joinFor = 2 * time.Second
	// mostJoined is how many batches a caller joins in succession, if they leave its calls open, before it makes the
	// calls itself.
	mostJoined = 2
	// batchFor is how long the calls of a batching client wait for others of the same lookup, which begin within
	// moments of each other. It is a small part of a round trip to any node.
	batchFor = 500 * time.Microsecond
)

// inflightBatch is a batch of calls in flight over a pool, made in the goroutine of one caller for all who make equal
// ones in the meantime.
type inflightBatch struct {
	key     callKey
	calls   []*Call // first of the caller who makes them, then of those who wait for it
	began   time.Time
	granted time.Duration // time that this caller had left; zero: no limit
	callers int           // number of callers whose calls it has
	group   group         // of calls that may be added before it is sent
	done    chan struct{}

	// The outcome, for others to read after done is closed.
	replies []replies // of one endpoint after another
	err     error
}

type callKey struct {
	requests string // methods and parameters
	work     upstream.Work
	avoided  string // endpoints that are asked last
}

// group identifies calls that may share a batch.
type group struct {
	lookup  *upstream.Lookup // nil: they share none
	work    upstream.Work
	avoided string
}

type inflightTable struct {
	joined     metric.Int64Counter
	attributes metric.AddOption // of the chain that the pool serves

	mu     sync.Mutex
	newest map[callKey]*inflightBatch // batches that may be joined
	unsent map[group]*inflightBatch   // batches that are not sent yet
}

func newInflightTable(p *upstream.Pool) *inflightTable {
	t := &inflightTable{newest: make(map[callKey]*inflightBatch), unsent: make(map[group]*inflightBatch)}
	t.attributes = metric.WithAttributes(p.Attributes()...)
	t.joined, _ = otel.Meter("crossgate/upstream").Int64Counter("crossgate.upstream.joined",
		metric.WithDescription("JSON-RPC calls that joined another caller's identical call."))
	t.joined.Add(context.Background(), 0, t.attributes) // so that the series exists from the start
	return t
}

// Invalidate stops further calls from joining batches in flight: the caller has just learned that something changed.
func (c *Client) Invalidate() {
	c.inflight.mu.Lock()
	defer c.inflight.mu.Unlock()
	clear(c.inflight.newest)
}

// Batching returns a client whose calls wait for a moment to share an HTTP request with others of the same lookup.
func (c *Client) Batching() *Client {
	made := *c
	made.batches = true
	return &made
}

// equal is the place of calls in a batch in flight that makes equal ones.
const equal = -1

// join returns a recent batch in flight that makes equal calls, an unsent batch of up to width calls that now has these
// from place on, or a new one, with place 0, for the caller to make. Any work may join calls made for Answering, but
// not the other way round.
func (t *inflightTable) join(
	ctx context.Context, calls []*Call, avoided []string, mayJoin bool, width int,
) (b *inflightBatch, place int, err error) {
	var requests strings.Builder
	for _, call := range calls {
		if call.text, err = call.params(); err != nil {
			return nil, 0, err
		}
		requests.WriteString(call.Method + " " + string(call.text) + "\n")
		mayJoin = mayJoin && !call.Fresh
	}
	own := callKey{requests.String(), upstream.WorkOf(ctx), strings.Join(avoided, " ")}
	answering := own
	answering.work = upstream.Answering
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, key := range []callKey{answering, own} {
		if b := t.newest[key]; b != nil && mayJoin && time.Since(b.began) <= joinFor {
			return b, equal, nil
		}
	}
	together := group{upstream.LookupOf(ctx), own.work, own.avoided}
	if b := t.unsent[together]; b != nil && mayJoin && len(b.calls)+len(calls) <= width {
		place = len(b.calls)
		b.callers++
		for _, call := range calls {
			copied := *call // the caller may leave
			b.calls = append(b.calls, &copied)
		}
		return b, place, nil
	}
	b = &inflightBatch{
		key: own, calls: calls, callers: 1, began: time.Now(), done: make(chan struct{}),
		err: &upstream.Error{Class: upstream.BadAnswer, Err: errPanicked}, // unless it is replaced
	}
	if deadline, limited := ctx.Deadline(); limited {
		b.granted = max(time.Until(deadline), 1)
	}
	t.newest[own] = b
	if mayJoin && together.lookup != nil && len(calls) < width {
		b.group, b.calls, t.unsent[together] = together, slices.Clone(calls), b
	}
	return b, 0, nil
}

func (t *inflightTable) awaitOthers(ctx context.Context, b *inflightBatch) {
	if b.group.lookup == nil {
		return
	}
	select {
	case <-time.After(batchFor):
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.unsent[b.group] == b {
		delete(t.unsent, b.group)
	}
}

var errPanicked = errors.New("panicked")

// run makes the calls of a batch at endpoints, in one HTTP request each, and completes it for those who wait.
func (c *Client) run(ctx context.Context, b *inflightBatch) {
	defer c.inflight.complete(b)
	c.inflight.awaitOthers(ctx, b)
	c.compareFirst(ctx, b.calls)
	c.askHeads()
	_, b.err = c.pool.Run(ctx, upstream.Job{
		Kind: kindOf(b.calls), Callers: b.callers, IsRead: true, Avoid: c.avoided, Suits: c.suits(b.calls), // no method here changes anything
		Try: func(ctx context.Context, e *upstream.Endpoint, turn int) upstream.Reply {
			return c.attempt(ctx, e, turn, b)
		},
	})
}

// add records the replies of another endpoint, and returns the gravest error of the calls that they leave open.
func (b *inflightBatch) add(r replies) error {
	r.results.sign(r.by)
	b.replies = append(b.replies, r)
	return r.results.gravest()
}

// complete ends a batch for those who wait. It can no longer be joined.
func (t *inflightTable) complete(b *inflightBatch) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.newest[b.key] == b {
		delete(t.newest, b.key)
	}
	close(b.done)
}

// wait waits for another caller's batch, or returns the error of ctx if that ends first.
func (t *inflightTable) wait(ctx context.Context, b *inflightBatch, calls []*Call, place int) error {
	if place == equal {
		t.joined.Add(ctx, int64(len(calls)), t.attributes)
		trace.SpanFromContext(ctx).AddEvent("rpc.joined", trace.WithAttributes(attribute.StringSlice("crossgate.rpc.methods", methodsOf(calls))))
	}
	select {
	case <-b.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// resultsOf returns the best results for calls of a complete batch, or nil if there are none.
func (b *inflightBatch) resultsOf(calls []*Call, place int) (best rpcResults) {
	for _, each := range b.replies {
		var got rpcResults
		if place == equal {
			got = each.of(calls)
		} else {
			got = each.results[place : place+len(calls)]
		}
		if best = got.better(best); got.gravest() == nil {
			break
		}
	}
	return best
}

// mayRetry reports whether making the calls again may succeed where another caller's batch did not: its caller was
// content or left before all endpoints were asked, or had less time than a caller with ctx has.
func (b *inflightBatch) mayRetry(ctx context.Context) bool {
	if b.err == nil || upstream.ClassOf(b.err) == upstream.Canceled {
		return true
	}
	deadline, limited := ctx.Deadline()
	return b.granted > 0 && (!limited || time.Until(deadline) > b.granted)
}
