package follow

import (
	"context"
	"errors"
	"slices"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/store"
)

// UnknownChains returns, as of the last count, how many orders give or take on each chain that the registry lacks:
// nothing is followed or searched there.
func (c *Chains) UnknownChains() map[chain.ID]uint64 { return *c.unknown.Load() }

// countUnknown counts orders of unknown chains now and then until ctx ends, and logs each such chain once.
func (c *Chains) countUnknown(ctx context.Context) {
	const every = 15 * time.Minute
	for again := true; again; again = order.Wait(ctx, every, nil) {
		pairs, err := c.Ledger().CountOrders(ctx)
		if err != nil {
			if !errors.Is(err, store.ErrUnavailable) && ctx.Err() == nil {
				c.Logger.WarnContext(ctx, "orders of unknown chains not counted", "error", err)
			}
			continue
		}
		counted := make(map[chain.ID]uint64)
		for _, pair := range pairs {
			for _, id := range slices.Compact([]chain.ID{pair.Give, pair.Take}) {
				if _, known := c.Options.Chains.Chain(id); !known {
					counted[id] += pair.Orders
				}
			}
		}
		before := *c.unknown.Swap(&counted)
		for id, orders := range counted {
			if before[id] == 0 {
				c.Logger.WarnContext(ctx, "orders involve an unknown chain; they are incomplete until it is configured",
					"chain", id, "orders", orders)
			}
		}
	}
}
