package index

import (
	"context"
	"errors"
	"time"

	"crossgate/order"
	"crossgate/order/stats"
	"crossgate/store"
)

const countJob = "count statistics"

// Orders that have changed are looked for after an interval when there are none. Steps have a pause between them in
// which followers can write.
const (
	countInterval = 3 * time.Second
	countPause    = 10 * time.Millisecond
)

// catchUp counts, until ctx ends, the orders that have changed. One replica does it.
func (x *Index) catchUp(ctx context.Context) {
	for {
		if err := x.catchUpOnce(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, store.ErrUnavailable) {
			x.options.Logger.WarnContext(ctx, "orders could not be counted", "error", err, "retry_in", countInterval)
		}
		if !wait(ctx, countInterval) {
			return
		}
	}
}

// catchUpOnce counts what waits, unless another replica does.
func (x *Index) catchUpOnce(ctx context.Context) error {
	lease, leads, err := x.store.Claim(ctx, countJob)
	if err != nil || !leads {
		return err
	}
	holding, release := x.store.Hold(ctx, lease)
	for left := true; left && err == nil && wait(holding, countPause); {
		left, err = x.catchUpStep(holding, lease)
	}
	return errors.Join(err, release())
}

// catchUpStep counts some orders, or sums up a day, and reports whether others may be left.
func (x *Index) catchUpStep(ctx context.Context, l store.Lease) (left bool, err error) {
	if left, err = stats.Count(ctx, x.jobs.DB, l, foldedOrders, x.options.Prices); err != nil || left {
		return left, err
	}
	return stats.SumUp(ctx, x.jobs.DB, l)
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
