package evm

import (
	"context"

	"crossgate/order"
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
