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
		if left, err = stats.Count(holding, c.DB, lease, ledger.FoldedOrders, c.Prices); err == nil && !left {
			left, err = stats.SumUp(holding, c.DB, lease)
		}
	}
	return errors.Join(err, release())
}
