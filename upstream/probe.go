package upstream

import (
	"context"
	"math/rand/v2"
	"time"
)

const (
	// largestProbe bounds a request that is kept to be asked again, in bytes and in calls.
	largestProbe      = 4 << 10
	largestProbeCalls = 4
	// probeLimit is how long a probe may take: a service that needs longer has not recovered.
	probeLimit = 3 * time.Second
	// firstProbe is when an endpoint whose breaker opened is probed, jittered; then twice as long after, until
	// the breaker's own time has come.
	firstProbe = time.Second
)

// inquiry is a request that an endpoint answered well, with what its answers must look like.
type inquiry struct {
	request Request
	valid   func(Response) error // nil accepts all
}

// keepSound remembers an answered read as a question that a sound endpoint can answer.
func (e *Endpoint) keepSound(r Request) {
	isRead := r.Body == nil && r.Method == "" || r.rpcMethod != ""
	if isRead && len(r.Body) <= largestProbe && r.calls <= largestProbeCalls {
		e.sound.Store(&inquiry{r, r.valid})
	}
}

// inquire asks q in the background, for the sake of the endpoint's health and breaker alone.
func (e *Endpoint) inquire(q inquiry) {
	e.inBackground(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(InBackground(ctx), e.timeout)
		defer cancel()
		_, _ = e.attempt(ctx, q.request, &turn{number: 1}, q.valid)
	})
}

// probe asks, while the breaker is open, what the endpoint answered well last, and closes the breaker when it
// does so again. Callers who cannot be answered meanwhile need not wait for one of them to try. A liar waits for
// the breaker's whole time: to answer is no sign that it has mended its ways.
func (e *Endpoint) probe(failed Request) {
	if e.lied.Load() || !e.breaker.isOpen() {
		return
	}
	q := inquiry{failed, failed.valid}
	if known := e.sound.Load(); known != nil {
		q = *known
	}
	e.inBackground(func(ctx context.Context) {
		for wait := firstProbe; e.breaker.isOpen(); wait *= 2 {
			jittered := wait + rand.N(wait/4)
			e.breaker.expectProbe(jittered)
			select {
			case <-time.After(jittered):
			case <-ctx.Done():
				return
			}
			if e.breaker.isOpen() && e.answers(ctx, q) {
				e.breaker.close()
			}
		}
	})
}

// answers asks past the breaker.
func (e *Endpoint) answers(ctx context.Context, q inquiry) bool {
	ctx, cancel := context.WithTimeout(ctx, min(e.timeout, probeLimit))
	defer cancel()
	if _, ok, err := e.budget.take(ctx, e.unitsOf(q.request)); !ok || err != nil {
		return false
	}
	started := time.Now()
	response, err := e.exchange(ctx, ctx, q.request)
	if err == nil && q.valid != nil {
		err = e.refusal(q.request, q.valid(response))
	}
	e.health.note(q.request.rpcMethod, time.Since(started), err)
	return answered(err)
}

// inBackground runs work unless work is under way or the endpoint is closed.
func (e *Endpoint) inBackground(work func(context.Context)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed || e.isProbing {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	e.isProbing, e.stopProbe = true, cancel
	e.working.Go(func() {
		defer cancel()
		work(ctx)
		e.mu.Lock()
		defer e.mu.Unlock()
		e.isProbing = false
	})
}

// Close ends what the endpoint does in the background and closes connections that wait for further use.
func (e *Endpoint) Close() {
	e.mu.Lock()
	e.closed = true
	if e.stopProbe != nil {
		e.stopProbe()
	}
	e.mu.Unlock()
	e.working.Wait()
	e.client.CloseIdleConnections()
}
