package follow

import (
	"context"
	"errors"
	"time"

	"crossgate/order"
	"crossgate/order/ledger"
	"crossgate/order/stats"
	"crossgate/store"
)

// Orders are counted with a pause after each transaction in which followers can write, and are looked for
// again after an interval when there are none.
const (
	countPause    = 10 * time.Millisecond
	countInterval = 3 * time.Second
)

// catchUp counts, until ctx ends, the orders that have changed. One replica does it.
func (c *Chains) catchUp(ctx context.Context) {
	for {
		if err := c.CatchUpOnce(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, store.ErrUnavailable) {
			c.Logger.WarnContext(ctx, "orders could not be counted", "error", err, "retry_in", countInterval)
		}
		if !order.Wait(ctx, countInterval, nil) {
			return
		}
	}
}

// CatchUpOnce counts what waits, unless another replica does.
func (c *Chains) CatchUpOnce(ctx context.Context) error {
	lease, leads, err := c.DB.Claim(ctx, "count statistics")
	if err != nil || !leads {
		return err
	}
	holding, release := c.DB.Hold(ctx, lease)
	for left := true; left && err == nil && order.Wait(holding, countPause, nil); {
		left, err = c.catchUpStep(holding, lease)
	}
	return errors.Join(err, release())
}

// catchUpStep counts some orders, or sums up a day, and reports whether others may be left.
func (c *Chains) catchUpStep(ctx context.Context, l store.Lease) (left bool, err error) {
	if left, err = stats.Count(ctx, c.DB, l, ledger.FoldedOrders, c.Prices); err != nil || left {
		return left, err
	}
	return stats.SumUp(ctx, c.DB, l)
}
