package gateway

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"crossgate/order"
	"crossgate/store"
)

// book keeps in the database what a gateway finds out, so that a restart and other gateways know it. No request waits
// for it: while the database is away it is kept in memory, and stored later.
type book struct {
	of       string // its content, for the log
	interval time.Duration
	store    *store.DB
	write    func(context.Context, *store.DB) error // writes news
	log      *slog.Logger

	isFailing bool // the latest write failed
}

// start writes news until stop, which has it written once more and waits for that. It does not end with ctx:
// requests may still be under way that change the content.
func (b *book) start(ctx context.Context) (stop func()) {
	running, end := context.WithCancel(context.WithoutCancel(ctx))
	var working sync.WaitGroup
	working.Go(func() {
		for order.Wait(running, b.interval, nil) {
			b.update(running)
		}
		b.update(context.WithoutCancel(running))
	})
	return func() {
		end()
		working.Wait()
	}
}

// update writes news. It logs the first failure of a series, and its end, but for those of a database that is
// unavailable, which says so itself.
func (b *book) update(ctx context.Context) {
	const limit = 5 * time.Second
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := b.write(limited, b.store)
	switch {
	case ctx.Err() != nil, errors.Is(err, store.ErrUnavailable):
		return // the next write has it all
	case err != nil && !b.isFailing:
		b.log.WarnContext(ctx, b.of+" not saved; kept in memory until the database is back", "error", err)
	case err == nil && b.isFailing:
		b.log.InfoContext(ctx, b.of+" saved again")
	}
	b.isFailing = err != nil
}
