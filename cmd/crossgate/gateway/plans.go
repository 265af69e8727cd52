package gateway

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"crossgate/store"
)

// How often spending is written, and how long the database may take for it.
const (
	planInterval = time.Second
	planLimit    = 5 * time.Second
)

// planBook keeps in the database how much of their monthly plans the endpoints have spent, so that a restart knows it
// and gateways on one database spend each plan together. No request waits for it. While the database is away each
// gateway counts on its own and writes that down later.
type planBook struct {
	store     *store.DB
	endpoints func() []*endpoint // of the running configuration
	log       *slog.Logger
	isFailing bool // the latest write failed
}

// start writes what is due until stop, which writes once more.
func (b *planBook) start(ctx context.Context) (stop func()) {
	return periodically(ctx, planInterval, b.write)
}

// write stores the claims that are due, and gives the endpoints the totals.
func (b *planBook) write(ctx context.Context) {
	var due []*endpoint
	var claims []store.PlanClaim
	for _, e := range b.endpoints() {
		if claim, isDue := e.PlanClaim(); isDue {
			due = append(due, e)
			claims = append(claims, store.PlanClaim{Service: e.of, Endpoint: e.Name(), Claim: claim})
		}
	}
	if len(due) == 0 {
		return
	}
	limited, cancel := context.WithTimeout(ctx, planLimit)
	defer cancel()
	refilled, err := b.store.ClaimPlans(limited, claims)
	if ctx.Err() != nil {
		return // the last write includes these claims
	}
	b.logTransition(ctx, err)
	if err != nil {
		return
	}
	for i, e := range due {
		e.PlanClaimed(claims[i].Claim, refilled[i])
	}
}

// logTransition logs the first failure of a series, and its end, but for those of a database that is unavailable, which
// says so itself.
func (b *planBook) logTransition(ctx context.Context, err error) {
	switch {
	case errors.Is(err, store.ErrUnavailable):
		return
	case err != nil && !b.isFailing:
		b.log.WarnContext(ctx, "monthly plan spending not saved; counting locally until the database is back", "error", err)
	case err == nil && b.isFailing:
		b.log.InfoContext(ctx, "monthly plan spending saved again")
	}
	b.isFailing = err != nil
}

// endpoints returns those of the running configuration.
func (s *sets) endpoints() []*endpoint {
	used, done := s.use()
	defer done()
	return used.parts.endpoints
}
