package follow

import (
	"context"
	"encoding/json"
	"fmt"

	"crossgate/order"
	"crossgate/order/ledger"
	"crossgate/store"
)

// listen passes on the notifications of all replicas until ctx ends. Without a connection notifications are lost: after
// each reconnect, any order may have changed.
func (c *Chains) listen(ctx context.Context) {
	if !c.DB.IsReplicated() {
		return
	}
	var failure store.Failure
	for {
		err := c.listenOnce(ctx, &failure)
		if ctx.Err() != nil {
			return
		}
		failure.Log(ctx, c.Logger, err, "notifications of other replicas interrupted", "", "retry_in", store.LeaseInterval)
		if !order.Wait(ctx, store.LeaseInterval, nil) {
			return
		}
	}
}

func (c *Chains) listenOnce(ctx context.Context, failure *store.Failure) error {
	subscription, err := c.DB.Subscribe(ctx, ledger.Channel, demandChannel)
	if err != nil {
		return err
	}
	defer subscription.Close(ctx)
	c.Observer.OrdersChanged(nil)
	for {
		failure.Log(ctx, c.Logger, nil, "", "notifications of other replicas arrive again")
		channel, payload, err := subscription.Next(ctx)
		if err != nil {
			return err
		}
		if channel == demandChannel {
			c.hearDemand(payload)
			continue
		}
		var changes []order.Change
		if err := json.Unmarshal([]byte(payload), &changes); err != nil {
			return fmt.Errorf("notification: %w", err)
		}
		c.Observer.OrdersChanged(changes)
	}
}
