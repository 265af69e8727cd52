package upstream

import (
	"context"
	"sync/atomic"
	"time"
)

// provenFor is how long an endpoint is trusted after a proof.
const provenFor = time.Minute

// proof is what every endpoint of an RPC has to show before it is believed.
type proof struct {
	call  func() *Call
	until map[*Endpoint]*atomic.Int64 // UNIX nanoseconds
}

// Proving returns an RPC over the same pool that believes an endpoint only while it answers a call of its
// own well, at first, after failures and once in a while: that it serves the right chain, for instance.
// The call goes along with others, so it costs no round trip where endpoints take batches.
func (r *RPC) Proving(call func() *Call) *RPC {
	p := &proof{call: call, until: make(map[*Endpoint]*atomic.Int64, len(r.pool.endpoints))}
	for _, e := range r.pool.endpoints {
		p.until[e] = new(atomic.Int64)
	}
	return &RPC{pool: r.pool, lastID: r.lastID, batch: r.batch, proof: p}
}

// prove makes calls at one endpoint, and the proof before or with them when it is due.
func (r *RPC) prove(ctx context.Context, e *Endpoint, number int, calls []*Call, hear func(outcomes) error) error {
	if r.proof.holds(e) {
		err := r.send(ctx, e, number, calls, hear)
		if r.proof != nil && countsAgainst(err) {
			r.proof.until[e].Store(0)
		}
		return err
	}
	test := r.proof.call()
	if uint64(len(calls)) < r.batch.Now() {
		return r.send(ctx, e, number, append([]*Call{test}, calls...), func(got outcomes) error {
			if err := r.proof.judge(e, got[0]); err != nil {
				return err
			}
			return hear(got[1:])
		})
	}
	err := r.send(ctx, e, number, []*Call{test}, func(got outcomes) error { return r.proof.judge(e, got[0]) })
	if err != nil {
		return err
	}
	return r.send(ctx, e, number, calls, hear)
}

// holds reports whether an endpoint needs no proof now.
func (p *proof) holds(e *Endpoint) bool { return p == nil || time.Now().UnixNano() < p.until[e].Load() }

// judge remembers that an endpoint passed, or says why it did not.
func (p *proof) judge(e *Endpoint, test outcome) error {
	if test.err == nil {
		p.until[e].Store(time.Now().Add(provenFor).UnixNano())
	}
	return test.err
}
