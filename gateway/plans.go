package gateway

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"crossgate/order/query"
	"crossgate/quote"
	"crossgate/store"
)

// newPlanSaver returns a saver of endpoints' spending of their monthly plans, which gateways on one database share.
// endpoints returns those of the running configuration.
func newPlanSaver(db *store.DB, endpoints func() []*endpoint, log *slog.Logger) *saver {
	write := func(ctx context.Context, db *store.DB) error {
		var due []*endpoint
		var claims []store.PlanClaim
		for _, e := range endpoints() {
			if claim, isDue := e.PlanClaim(); isDue {
				due = append(due, e)
				claims = append(claims, store.PlanClaim{Service: e.of, Endpoint: e.Name(), Claim: claim})
			}
		}
		if len(due) == 0 {
			return nil
		}
		refilled, err := db.ClaimPlans(ctx, claims)
		if err != nil {
			return err
		}
		for i, e := range due {
			e.PlanClaimed(claims[i].Claim, refilled[i])
		}
		return nil
	}
	return &saver{of: "monthly plan spending", interval: time.Second, store: db, write: write, log: log}
}

func (s *sets) endpoints() []*endpoint { return s.now().parts.endpoints }

// newWinSaver returns a saver of the venues that win comparisons.
func newWinSaver(db *store.DB, wins *quote.History, log *slog.Logger) *saver {
	write := func(ctx context.Context, db *store.DB) error {
		counted := wins.Take()
		if len(counted) == 0 {
			return nil
		}
		err := db.AddVenueDays(ctx, counted)
		if err != nil {
			wins.Add(counted...)
		}
		return err
	}
	return &saver{of: "counts of won comparisons", interval: 2 * time.Second, store: db, write: write, log: log}
}

func (s *sets) venues(ctx context.Context, from, to uint64) ([]quote.VenueDay, error) {
	all, err := s.store.Venues(ctx, from, to)
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w: %w", query.ErrUnavailable, err)
	}
	return all, err
}
