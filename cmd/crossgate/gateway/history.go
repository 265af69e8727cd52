package gateway

import (
	"context"
	"errors"
	"log/slog"

	"crossgate/config"
	"crossgate/order/index"
)

// Backfill reads into the store of c what happened before the chains were followed, until everything is
// there or ctx ends. A gateway may use the store meanwhile. report hears of each step, on several goroutines.
func Backfill(ctx context.Context, c config.Config, log *slog.Logger, report func(index.Progress)) error {
	return withIndex(ctx, c, log, func(x *index.Index) error { return x.Backfill(ctx, report) })
}

// IndexStatus tells how far the store of c is with each chain.
func IndexStatus(ctx context.Context, c config.Config, log *slog.Logger) (status []index.Status, err error) {
	err = withIndex(ctx, c, log, func(x *index.Index) error {
		status, err = x.Status(ctx)
		return err
	})
	return status, err
}

// withIndex opens the order index of c for as long as work takes. What it spends of monthly plans counts for a gateway
// beside it as well.
func withIndex(ctx context.Context, c config.Config, log *slog.Logger, work func(*index.Index) error) error {
	p, err := build(c, log, nil)
	if err != nil {
		return err
	}
	defer p.close()
	store, err := openStore(ctx, c.Index)
	if err != nil {
		return err
	}
	plans := &planBook{store: store, endpoints: func() []*endpoint { return p.endpoints }, log: log}
	plans.write(ctx)
	stopCounting := plans.start(ctx)
	err = work(p.index(store, c.Index, log, nil))
	stopCounting()
	return errors.Join(err, store.Close())
}
