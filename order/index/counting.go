package index

import (
	"context"
	"errors"

	"crossgate/order"
	"crossgate/order/stats"
	"crossgate/store"
)

const countJob = "count statistics"

// catchUp lists and counts, until ctx ends, the orders that are not or that have changed. One replica does it.
func (x *Index) catchUp(ctx context.Context) {
	for {
		if err := x.catchUpOnce(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, store.ErrUnavailable) {
			x.options.Logger.WarnContext(ctx, "orders could not be counted", "error", err, "retry_in", listInterval)
		}
		if !wait(ctx, listInterval) {
			return
		}
	}
}

// catchUpOnce lists and counts what waits, unless another replica does.
func (x *Index) catchUpOnce(ctx context.Context) error {
	return x.underLease(ctx, countJob, x.catchUpStep)
}

// catchUpStep lists or counts some orders, or sums up a day, and reports whether others may be left.
func (x *Index) catchUpStep(ctx context.Context, l store.Lease) (left bool, err error) {
	if left, err = x.jobs.listSome(ctx, l); err != nil || left {
		return left, err
	}
	if left, err = stats.Count(ctx, x.jobs.DB, l, foldedOrders, x.options.Prices); err != nil || left {
		return left, err
	}
	return stats.SumUp(ctx, x.jobs.DB, l)
}

// underLease takes steps of a job while they leave something to do, unless another replica does it.
func (x *Index) underLease(ctx context.Context, job string, step func(context.Context, store.Lease) (left bool, err error)) error {
	lease, leads, err := x.store.Claim(ctx, job)
	if err != nil || !leads {
		return err
	}
	holding, release := x.store.Hold(ctx, lease)
	for left := true; left && err == nil && wait(holding, listPause); {
		left, err = step(holding, lease)
	}
	return errors.Join(err, release())
}

// foldedOrders returns those orders whose terms are known.
func foldedOrders(ctx context.Context, q store.Rows, ids []order.ID) (map[order.ID]*order.Order, error) {
	events, err := eventsOfAll(ctx, q, ids)
	if err != nil {
		return nil, err
	}
	orders := make(map[order.ID]*order.Order, len(ids))
	for id, each := range events {
		if o, hasTerms := order.Fold(each); hasTerms {
			orders[id] = o
		}
	}
	return orders, nil
}
