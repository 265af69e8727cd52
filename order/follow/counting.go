package follow

import (
	"context"
	"errors"
	"time"

	"crossgate/order"
	"crossgate/order/stats"
	"crossgate/store"
)

// Orders are counted with a pause after each transaction, during which followers can write. If there is nothing to
// count, orders are looked for again after an interval.
const (
	countPause    = 10 * time.Millisecond
	countInterval = 3 * time.Second
	revalueEvery  = time.Hour // for orders of today and yesterday whose prices were not known
)

// catchUp counts changed orders until ctx ends. One replica at a time does so.
func (c *Chains) catchUp(ctx context.Context) {
	var failure store.Failure
	for {
		if err := c.CatchUpOnce(ctx); ctx.Err() == nil {
			failure.Log(ctx, c.Logger, err, "orders could not be counted", "orders are counted again", "retry_in", countInterval)
		}
		if !order.Wait(ctx, countInterval, nil) {
			return
		}
	}
}

// CatchUpOnce counts all orders that wait for it, unless another replica does.
func (c *Chains) CatchUpOnce(ctx context.Context) error {
	lease, leads, err := c.DB.Claim(ctx, "count statistics")
	if err != nil || !leads {
		return err
	}
	holding, release := c.DB.Hold(ctx, lease)
	if c.Prices != nil && time.Since(c.revalued) >= revalueEvery {
		c.revalued = time.Now()
		err = stats.Revalue(holding, c.DB, lease)
	}
	for left := true; left && err == nil && order.Wait(holding, countPause, nil); {
		if left, err = stats.Count(holding, c.DB, lease, c.Prices); err == nil && !left {
			left, err = stats.SumUp(holding, c.DB, lease)
		}
	}
	return errors.Join(err, release())
}
