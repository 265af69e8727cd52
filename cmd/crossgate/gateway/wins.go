package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"crossgate/order/index"
	"crossgate/quote"
	"crossgate/store"
)

// How often counts of who wins comparisons are written, and how long the database may take for it.
const (
	winInterval = 2 * time.Second
	winLimit    = 5 * time.Second
)

// winBook keeps in the database who wins comparisons. No request waits for it. While the database is away counts are
// kept in memory and written later; a gateway that is killed loses those of the last moments.
type winBook struct {
	store     *store.DB
	wins      *quote.Wins
	log       *slog.Logger
	isFailing bool // the latest write failed
}

// start writes what is new until stop, which writes once more.
func (b *winBook) start(ctx context.Context) (stop func()) {
	return periodically(ctx, winInterval, b.write)
}

func (b *winBook) write(ctx context.Context) {
	counted := b.wins.Take()
	if len(counted) == 0 {
		return
	}
	limited, cancel := context.WithTimeout(ctx, winLimit)
	defer cancel()
	err := b.store.AddVenueDays(limited, counted)
	if err != nil {
		b.wins.Add(counted...)
	}
	if ctx.Err() != nil || errors.Is(err, store.ErrUnavailable) {
		return
	}
	switch isFailing := err != nil; {
	case isFailing && !b.isFailing:
		b.log.WarnContext(ctx, "counts of won comparisons not saved; kept in memory until the database is back", "error", err)
	case b.isFailing && !isFailing:
		b.log.InfoContext(ctx, "counts of won comparisons saved again")
	}
	b.isFailing = err != nil
}

// Venues implements orders.Statistics.
func (s *sets) Venues(ctx context.Context, from, to uint64) ([]quote.VenueDay, error) {
	all, err := s.store.Venues(ctx, from, to)
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w: %w", index.ErrUnavailable, err)
	}
	return all, err
}
