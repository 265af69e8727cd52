package gateway

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"crossgate/order/index"
)

// How often what endpoints spend of their monthly plans is looked at, and how long the store may take to write it.
const (
	planInterval = time.Second
	planPatience = 5 * time.Second
)

// planBook keeps in the store how far the monthly plans of endpoints are spent, so that a restart knows it, and gateways
// that share a store spend each plan together. Nobody waits for it. While the store is away each gateway counts for itself
// what it tells the store afterwards.
type planBook struct {
	store     *index.Store
	endpoints func() []*endpoint // of now
	log       *slog.Logger
	isFailing bool // the store, when it was told last
}

// start has everything written that is due until stop, which writes once more. The end of ctx changes nothing: those who
// spend may still be at work.
func (b *planBook) start(ctx context.Context) (stop func()) {
	running, end := context.WithCancel(context.WithoutCancel(ctx))
	var writing sync.WaitGroup
	writing.Go(func() { b.run(running) })
	return func() {
		end()
		writing.Wait()
	}
}

// run writes until ctx ends, and then once more.
func (b *planBook) run(ctx context.Context) {
	tick := time.NewTicker(planInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			b.write(ctx)
		case <-ctx.Done():
			b.write(context.WithoutCancel(ctx))
			return
		}
	}
}

// write tells the store what is due, and the endpoints what it answers.
func (b *planBook) write(ctx context.Context) {
	var due []*endpoint
	var claims []index.PlanClaim
	for _, e := range b.endpoints() {
		if claim, isDue := e.PlanClaim(); isDue {
			due = append(due, e)
			claims = append(claims, index.PlanClaim{Service: e.of, Endpoint: e.Name(), Claim: claim})
		}
	}
	if len(due) == 0 {
		return
	}
	limited, cancel := context.WithTimeout(ctx, planPatience)
	defer cancel()
	refilled, err := b.store.ClaimPlans(limited, claims)
	if ctx.Err() != nil {
		return // it is written once more
	}
	b.tell(ctx, err)
	if err != nil {
		return
	}
	for i, e := range due {
		e.PlanClaimed(claims[i].Claim, refilled[i])
	}
}

// tell logs that the store began to fail, or ceased to.
func (b *planBook) tell(ctx context.Context, err error) {
	switch {
	case err != nil && !b.isFailing:
		b.log.WarnContext(ctx, "what is spent of monthly plans is counted here alone, and lost with a restart", "error", err)
	case err == nil && b.isFailing:
		b.log.InfoContext(ctx, "what is spent of monthly plans is written again")
	}
	b.isFailing = err != nil
}

// endpoints are those of the running configuration.
func (s *sets) endpoints() []*endpoint {
	used, done := s.use()
	defer done()
	return used.parts.endpoints
}
