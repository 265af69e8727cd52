package upstream

import (
	"context"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

// provenFor is how long an endpoint is believed after a proof.
const provenFor = 15 * time.Second

// proof is what every endpoint of an RPC has to show before it is believed.
type proof struct {
	call  func() *Call
	shown map[*Endpoint]*shown
}

// shown is what one endpoint has shown, and how many requests to it are under way over connections that had been used
// before.
type shown struct {
	until atomic.Int64 // UNIX nanoseconds
	older atomic.Int64
}

// Proving returns an RPC over the same pool that believes an endpoint only while it answers a call of its
// own well, that it serves the right chain, for instance: at first, once in a while, after whatever may have
// broken a connection, and over a connection that was opened while none that had been used before was in use. The call goes
// along with others, so it costs a round trip only in the last of these cases, and where endpoints take no
// batches.
func (r *RPC) Proving(call func() *Call) *RPC {
	p := &proof{call: call, shown: make(map[*Endpoint]*shown, len(r.pool.endpoints))}
	for _, e := range r.pool.endpoints {
		p.shown[e] = new(shown)
		e.identity.Store(&call)
	}
	return &RPC{pool: r.pool, lastID: r.lastID, batch: r.batch, proof: p, flights: newFlights(r.pool)}
}

// prove makes calls at one endpoint, and the proof before or with them when it is due.
func (r *RPC) prove(ctx context.Context, e *Endpoint, turn *turn, calls []*Call, hear func(replies) error) error {
	if r.proof == nil {
		return r.send(ctx, e, turn, calls, hear)
	}
	s := r.proof.shown[e]
	over := connection{shown: s}
	defer over.leave()
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: over.take})
	if s.holds() {
		isThrownAway := false
		err := r.send(ctx, e, turn, calls, func(got replies) error {
			if isThrownAway = over.isUnknown; isThrownAway {
				return nil
			}
			return hear(got)
		})
		if !isThrownAway {
			return s.after(err)
		}
		s.until.Store(0)
	}
	return s.after(r.sendProof(ctx, e, turn, calls, hear))
}

// connection is what a request goes over.
type connection struct {
	shown     *shown
	isOlder   bool // it had been used before
	isUnknown bool // it was opened while none that had been used before was in use, and may lead elsewhere
}

func (c *connection) take(got httptrace.GotConnInfo) {
	c.leave()
	if c.isOlder = got.Reused; c.isOlder {
		c.shown.older.Add(1)
	}
	c.isUnknown = c.shown.older.Load() == 0
}

func (c *connection) leave() {
	if c.isOlder {
		c.shown.older.Add(-1)
	}
	c.isOlder = false
}

// sendProof makes calls and the proof, in one request when the endpoint takes that many.
func (r *RPC) sendProof(ctx context.Context, e *Endpoint, turn *turn, calls []*Call, hear func(replies) error) error {
	s, test := r.proof.shown[e], r.proof.call()
	if uint64(len(calls)) < r.batch.Now() {
		return r.send(ctx, e, turn, append([]*Call{test}, calls...), func(got replies) error {
			if err := s.judge(ctx, e, got.outcomes[0]); err != nil {
				return err
			}
			return hear(got.withoutFirst())
		})
	}
	err := r.send(ctx, e, turn, []*Call{test}, func(got replies) error { return s.judge(ctx, e, got.outcomes[0]) })
	if err != nil {
		return err
	}
	return r.send(ctx, e, turn, calls, hear)
}

// holds reports whether the endpoint needs no proof now.
func (s *shown) holds() bool { return time.Now().UnixNano() < s.until.Load() }

// judge remembers that the endpoint passed, or says why it did not. Who says itself that it is somebody else is put
// aside.
func (s *shown) judge(ctx context.Context, e *Endpoint, test outcome) error {
	if test.err == nil {
		s.until.Store(time.Now().Add(provenFor).UnixNano())
	} else if isLie(test.err) {
		e.putAside(ctx, test.err)
	}
	return test.err
}

// inquiryBy makes a request of a call. hear gets what comes of it, be it of use or not.
func (e *Endpoint) inquiryBy(call func() *Call, hear func(outcome)) inquiry {
	first := call()
	body, err := encode([]*Call{first}, 1)
	if err != nil {
		panic("upstream: a call of ours that JSON cannot hold: " + err.Error())
	}
	judged := func(hear func(outcome)) func(Response) error {
		return func(response Response) error {
			replied, err := read([]*Call{call()}, response, 1)
			if err != nil {
				return err
			}
			got := replied.outcomes[0]
			hear(got)
			if got.open {
				return got.err
			}
			return nil
		}
	}
	// The request may be asked of other endpoints as well, of whom hear has no business to know.
	request := Request{Body: body, Cost: e.costOf(first.Method), calls: 1, rpcMethod: first.Method, valid: judged(func(outcome) {})}
	return inquiry{request, judged(hear)}
}

// after makes the next request carry a proof when a request ended in a way that may have cost the
// connection, be it by the caller who left.
func (s *shown) after(err error) error {
	if countsAgainst(err) || classOf(err) == Timeout || classOf(err) == Canceled {
		s.until.Store(0)
	}
	return err
}
