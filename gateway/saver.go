package gateway

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"crossgate/order"
	"crossgate/order/query"
	"crossgate/quote"
	"crossgate/store"
)

// saver writes what a gateway learns to the database, for other gateways and for a restart. No request waits for it:
// while the database is unavailable, changes stay in memory and are stored later.
type saver struct {
	of       string // its content, for the log
	interval time.Duration
	store    *store.DB
	write    func(context.Context, *store.DB) error // writes changes
	log      *slog.Logger

	failure store.Failure
}

// start writes changes at every interval until stop is called, which writes once more and waits for that. It outlives
// ctx, because requests in flight may still change the content.
func (s *saver) start(ctx context.Context) (stop func()) {
	running, end := context.WithCancel(context.WithoutCancel(ctx))
	var working sync.WaitGroup
	working.Go(func() {
		for order.Wait(running, s.interval, nil) {
			s.update(running)
		}
		s.update(context.WithoutCancel(running))
	})
	return func() {
		end()
		working.Wait()
	}
}

// update writes changes.
func (s *saver) update(ctx context.Context) {
	const limit = 5 * time.Second
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := s.write(limited, s.store)
	s.failure.Log(ctx, s.log, err, s.of+" not saved; kept in memory until the database is back", s.of+" saved again")
}

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
