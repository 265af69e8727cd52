package follow

import (
	"context"
	"errors"
	"time"

	"crossgate/order/ledger"
	"crossgate/order/stats"
	"crossgate/store"
)

// Orders are listed and counted with a pause after each transaction in which followers can write, and are looked for
// again after an interval when there are none.
const (
	listPause    = 10 * time.Millisecond
	listInterval = 3 * time.Second
)

// catchUp lists and counts, until ctx ends, the orders that are not or that have changed. One replica does it.
func (c *Chains) catchUp(ctx context.Context) {
	for {
		if err := c.CatchUpOnce(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, store.ErrUnavailable) {
			c.Logger.WarnContext(ctx, "orders could not be counted", "error", err, "retry_in", listInterval)
		}
		if !Wait(ctx, listInterval) {
			return
		}
	}
}

// CatchUpOnce lists and counts what waits, unless another replica does.
func (c *Chains) CatchUpOnce(ctx context.Context) error {
	lease, leads, err := c.DB.Claim(ctx, "count statistics")
	if err != nil || !leads {
		return err
	}
	holding, release := c.DB.Hold(ctx, lease)
	for left := true; left && err == nil && Wait(holding, listPause); {
		left, err = c.catchUpStep(holding, lease)
	}
	return errors.Join(err, release())
}

// catchUpStep lists or counts some orders, or sums up a day, and reports whether others may be left.
func (c *Chains) catchUpStep(ctx context.Context, l store.Lease) (left bool, err error) {
	if left, err = c.Ledger().ListSome(ctx, l); err != nil || left {
		return left, err
	}
	if left, err = stats.Count(ctx, c.DB, l, ledger.FoldedOrders, c.Prices); err != nil || left {
		return left, err
	}
	return stats.SumUp(ctx, c.DB, l)
}
