package evm

import (
	"context"
	"fmt"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/upstream"
)

var _ order.LogSource = (*Chain)(nil)

// EventsOfLogs implements order.LogSource. Beside the order contracts' logs the gate's are searched, which name the
// submissions of claims.
func (c *Chain) EventsOfLogs(ctx context.Context, from, to uint64) ([]order.Event, error) {
	contracts := c.emitters()
	if gate := c.chain.Contracts.Gate; len(contracts) > 0 && !gate.IsAbsent() {
		contracts = append(contracts, gate)
	}
	return c.eventsBetween(ctx, from, to, contracts, c.eventsInLogs)
}

// SearchSpan implements order.LogSource.
func (c *Chain) SearchSpan(ctx context.Context, from, most uint64) (blocks uint64, err error) {
	contracts := c.emitters()
	if len(contracts) == 0 {
		return most, nil
	}
	ctx = upstream.Background.For(ctx)
	for {
		span := min(c.rpc.Search(getLogs, c.reach(from)), most)
		err := c.searchBy(contracts[:1], func(r refinements) error {
			filter := logFilter{From: new(Quantity(from)), To: new(Quantity(from + span - 1)), Address: contracts[:1]}
			if r.topics != nil {
				filter.Topics = [][]chain.Hash{{{}}} // that no log has
			}
			asked := filter.call(new([]log), c.reach(from))
			asked.Reach.Blocks = span
			return c.rpc.All(ctx, asked)
		})
		fitting := min(c.rpc.Search(getLogs, c.reach(from)), most)
		if err == nil {
			return fitting, nil
		}
		if fitting >= span {
			return 0, fmt.Errorf("search of blocks %d to %d: %w", from, from+span-1, err)
		}
	}
}
