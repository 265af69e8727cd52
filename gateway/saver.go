package gateway

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"crossgate/order"
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
