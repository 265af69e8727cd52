package jsonrpc

import (
	"context"
	"maps"
	"net/http/httptrace"
	"slices"
	"sync/atomic"
	"time"

	"crossgate/upstream"
)

const (
	// provenFor is how long an endpoint is believed after a proof.
	provenFor = 15 * time.Second
	// anchoredFor is how long it is believed to be on the chain's own branch, unless its connection may have changed.
	anchoredFor = 15 * time.Minute
)

// controlID is the id of calls without a waiting caller.
const controlID = 1

// identityProof holds the proofs that every endpoint of a client must give before it is believed.
type identityProof struct {
	call      *Call
	anchor    atomic.Pointer[Call]  // see Client.Anchor; nil: none
	suspended atomic.Pointer[error] // see Client.Suspend; nil: not suspended
	endpoints map[*upstream.Endpoint]*identity
	turn      atomic.Uint32
}

// identity records the proofs that one endpoint has given, and how many requests to it went over reused connections.
type identity struct {
	provenUntil   atomic.Int64 // UNIX nanoseconds
	anchoredUntil atomic.Int64 // likewise, that it has the anchor
	reused        atomic.Int64 // requests under way over reused connections
	everReused    atomic.Int64 // requests so far over reused connections
}

// Proving returns a client of the same pool whose errors begin with label. It believes an endpoint only while that
// answers proof well: at first, once in a while, after anything that may have broken a connection, and over a
// connection that was opened while no reused one was in use. The proof is sent along with other calls.
func (c *Client) Proving(label string, proof *Call) *Client {
	p := &identityProof{call: proof, endpoints: make(map[*upstream.Endpoint]*identity)}
	for _, e := range c.pool.Endpoints() {
		p.endpoints[e] = new(identity)
		e.SetControl(c.controlRequest(e, proof))
	}
	proving := *c
	proving.label, proving.identity, proving.inflight = label+": ", p, newInflightTable(c.pool)
	proving.separate()
	return &proving
}

// controlRequest returns a call of our own as a request to probe e with.
func (c *Client) controlRequest(e *upstream.Endpoint, call *Call) upstream.Request {
	r := c.request(e, []*Call{call}, controlID)
	r.Check = func(response upstream.Response) error {
		got, err := read([]*Call{call}, response, controlID)
		if err != nil {
			return err
		}
		return got.results.gravest()
	}
	return r
}

// attempt makes the calls of a batch at one endpoint, with or after any proofs that are due. The race judges and
// settles the attempt that it returns.
func (c *Client) attempt(ctx context.Context, e *upstream.Endpoint, turn int, b *inflightBatch) *batchAttempt {
	if c.identity == nil {
		return c.send(ctx, e, turn, b, b.calls)
	}
	known := c.identity.endpoints[e]
	used := connection{identity: known}
	defer used.leave()
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GetConn: used.want, GotConn: used.take})
	if len(c.identity.due(known)) == 0 {
		got := c.send(ctx, e, turn, b, b.calls)
		if got.failure() != nil || !used.isUnknown {
			return got
		}
		_ = got.Settle(ctx, nil) // it may come from elsewhere and is ignored
		known.doubt()
		ctx = goingOn(ctx)
	}
	return c.sendProofs(ctx, e, turn, b, c.identity.due(known))
}

// sendProofs makes the calls of a batch and the proofs, in one request if the endpoint accepts as many. A refusal that
// concerns one of the batch's calls does not put the endpoint in doubt: the proofs are then made by themselves.
func (c *Client) sendProofs(ctx context.Context, e *upstream.Endpoint, turn int, b *inflightBatch, proofs []*Call) *batchAttempt {
	if uint64(len(proofs)+len(b.calls)) <= c.abilities[e].Batch() {
		got := c.send(ctx, e, turn, b, slices.Concat(proofs, b.calls))
		if got.checkProofs(ctx, proofs); got.failure() == nil {
			got.replies = got.replies.without(len(proofs))
		}
		if !isForOne(got.failure(), b.calls) {
			return got
		}
		_ = got.Settle(ctx, got.failure())
		ctx = goingOn(ctx)
	}
	for _, proof := range proofs {
		got := c.send(ctx, e, turn, b, []*Call{proof})
		if got.checkProofs(ctx, []*Call{proof}); got.failure() != nil {
			return got
		}
		_ = got.Settle(ctx, nil)
		ctx = goingOn(ctx)
	}
	return c.send(ctx, e, turn, b, b.calls)
}

// goingOn returns the context for further requests of an attempt: they wait like those of other callers, since the
// first one has spent from the share of searches for all of them.
func goingOn(ctx context.Context) context.Context {
	if upstream.WorkOf(ctx) == upstream.Searching {
		return upstream.Answering.For(ctx)
	}
	return ctx
}

// checkProofs checks the replies to proofs, which were the first calls. An endpoint that turns out to be another one is
// quarantined. One that says nothing about the anchor is asked for it again with the next proof.
func (a *batchAttempt) checkProofs(ctx context.Context, proofs []*Call) {
	if a.failure() != nil {
		return
	}
	now := time.Now()
	for i, proof := range proofs {
		failed, isAnchor := a.replies.results[i].err, proof != a.client.identity.call
		switch {
		case isAnchor && failed == nil:
			a.identity.anchoredUntil.Store(now.Add(anchoredFor).UnixNano())
		case isAnchor && !upstream.Contradicts(failed):
			a.identity.anchoredUntil.Store(now.Add(provenFor).UnixNano())
		case failed == nil:
			a.identity.provenUntil.Store(now.Add(provenFor).UnixNano())
		default:
			if upstream.Contradicts(failed) {
				a.identity.doubt()
				a.Endpoint.Quarantine(ctx, failed)
			}
			a.err = failed
			return
		}
	}
}

func (p *identityProof) due(known *identity) (proofs []*Call) {
	now := time.Now().UnixNano()
	if now >= known.provenUntil.Load() {
		proofs = append(proofs, p.call)
	}
	if anchor := p.anchor.Load(); anchor != nil && now >= known.anchoredUntil.Load() {
		proofs = append(proofs, anchor)
	}
	return proofs
}

// doubt makes the endpoint prove everything again.
func (i *identity) doubt() {
	i.provenUntil.Store(0)
	i.anchoredUntil.Store(0)
}

// after makes the next request carry a proof if a request ended in a way that may have cost the connection, including
// because its caller left.
func (i *identity) after(err error) {
	switch class := upstream.ClassOf(err); {
	case upstream.IsFault(err), class == upstream.Timeout, class == upstream.Canceled:
		i.doubt()
	}
}

type connection struct {
	identity  *identity
	isReused  bool
	isBeside  bool  // a reused one was in use when this one was wanted
	reused    int64 // everReused when this one was wanted
	isUnknown bool  // it was opened while no reused one was in use, and may lead elsewhere
}

// want records that a connection is about to be taken or opened.
func (c *connection) want(string) {
	c.reused = c.identity.everReused.Load()
	c.isBeside = c.identity.reused.Load() > 0
}

func (c *connection) take(got httptrace.GotConnInfo) {
	c.leave()
	if c.isReused = got.Reused; c.isReused {
		c.identity.reused.Add(1)
		c.identity.everReused.Add(1)
	}
	c.isUnknown = !c.isBeside && c.identity.everReused.Load() == c.reused
}

func (c *connection) leave() {
	if c.isReused {
		c.identity.reused.Add(-1)
	}
	c.isReused = false
}

// Anchor makes every endpoint prove once in a while, with atOnce before anything else, that it is on the chain's own
// branch: proof requests a block known to be the chain's, and rejects any other. An endpoint without that block is
// believed. A nil proof ends that. Only for a client made by Proving.
func (c *Client) Anchor(proof *Call, atOnce bool) {
	c.identity.anchor.Store(proof)
	if !atOnce {
		return
	}
	for _, known := range c.identity.endpoints {
		known.anchoredUntil.Store(0)
	}
}

// Suspend makes all calls but those of Alone fail with cause until Suspend(nil), while it is unknown which of the
// endpoints serve the chain. Only for a client made by Proving.
func (c *Client) Suspend(cause error) {
	if cause == nil {
		c.identity.suspended.Store(nil)
		return
	}
	cause = &upstream.Error{Class: upstream.Unusable, Endpoint: c.Name(), Err: cause}
	c.identity.suspended.Store(&cause)
}

func (c *Client) suspension() error {
	if c.identity == nil || c.alone == nil {
		return nil
	}
	if cause := c.identity.suspended.Load(); cause != nil {
		return *cause
	}
	return nil
}

// Alone asks the endpoints of a client made by Proving individually, starting with another one each time, until as many
// as most have answered, each of a different provider. It returns the answers by the endpoints' names. Endpoints prove
// their identity first only if all are to be asked.
func Alone[T any](ctx context.Context, c *Client, most int, ask func(ctx context.Context, alone *Client) (T, error)) map[string]T {
	answers := make(map[string]T)
	all := c.pool.Endpoints()
	first := int(c.identity.turn.Add(1))
	for i := range all {
		alone := c.alone[all[(first+i)%len(all)]]
		isOne := func(name string) bool { return c.voices.isOne(name, alone.Name()) }
		if slices.ContainsFunc(slices.Collect(maps.Keys(answers)), isOne) {
			continue
		}
		if most < len(all) {
			unproven := *alone
			unproven.identity, unproven.inflight = nil, newInflightTable(alone.pool)
			alone = &unproven
		}
		if answer, err := ask(ctx, alone); err == nil {
			answers[alone.Name()] = answer
		}
		if len(answers) == most {
			break
		}
	}
	return answers
}
