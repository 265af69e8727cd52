package upstream

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"
)

// Pool is several endpoints that can do the same job. Safe for concurrent use.
type Pool struct {
	name      string
	endpoints []*Endpoint
	preferred atomic.Int64 // index of the endpoint that answered well last
}

// NewPool returns a pool that prefers endpoints in the sequence given until another one proves better.
func NewPool(name string, endpoints ...*Endpoint) *Pool {
	return &Pool{name: name, endpoints: endpoints}
}

// Name returns the configured name.
func (p *Pool) Name() string { return p.name }

// Do asks the endpoints one after the other until one gives an answer that check accepts; nil accepts
// every Response. A plain error of check is a bad answer; an *Error keeps its class. When all fail the
// error is an *Error that classes the failures as a whole and says what each endpoint said.
func (p *Pool) Do(ctx context.Context, r Request, check func(Response) error) (Response, error) {
	var accepted Response
	err := p.each(ctx, func(ctx context.Context, e *Endpoint, number int) error {
		response, err := e.attempt(ctx, r, number, check)
		if err == nil {
			accepted = response
		}
		return err
	})
	return accepted, err
}

// try asks one endpoint, as the number-th of a job.
type try func(ctx context.Context, e *Endpoint, number int) error

// each has endpoints tried one after the other until a try succeeds; see Do.
func (p *Pool) each(ctx context.Context, ask try) error {
	var failures attempts
	order := p.order()
	for i, index := range order {
		err := p.attempt(ctx, ask, index, i+1)
		if err == nil {
			if !failures.onlyDoubt() { // who confirmed another's answer did not do better
				p.preferred.Store(int64(index))
			}
			return nil
		}
		failures = append(failures, err)
		if classOf(err) == Canceled || ctx.Err() != nil {
			break
		}
	}
	if len(order) == 0 {
		failures = attempts{errors.New("no endpoint is configured")}
	}
	whole := failures.summary(p.name)
	if err := ctx.Err(); errors.Is(err, context.Canceled) {
		whole.Class = Canceled
	} else if err != nil {
		whole.Class = Timeout
	}
	return whole
}

// attempt has one endpoint tried. While others remain it may use half of the time that is left, so that a
// silent endpoint does not take the whole of it.
func (p *Pool) attempt(ctx context.Context, ask try, index, number int) error {
	deadline, limited := ctx.Deadline()
	if !limited || number == len(p.endpoints) {
		return ask(ctx, p.endpoints[index], number)
	}
	ctx, cancel := context.WithTimeout(ctx, time.Until(deadline)/2)
	defer cancel()
	return ask(ctx, p.endpoints[index], number)
}

// order lists the endpoints by index: those that can answer at once first, the last good one before its
// equals.
func (p *Pool) order() []int {
	order := make([]int, 0, len(p.endpoints))
	standings := make([]standing, len(p.endpoints))
	preferred := int(p.preferred.Load())
	for i := range p.endpoints {
		index := (preferred + i) % len(p.endpoints)
		order = append(order, index)
		standings[index] = p.endpoints[index].standing()
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(standings[a]) - int(standings[b]) })
	return order
}
