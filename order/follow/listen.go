package follow

import (
	"context"
	"encoding/json"
	"errors"
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
	for {
		err := c.listenOnce(ctx)
		if ctx.Err() != nil {
			return
		}
		if !errors.Is(err, store.ErrUnavailable) {
			c.Logger.WarnContext(ctx, "notifications of other replicas interrupted", "error", err,
				"retry_in", store.LeaseInterval)
		}
		if !order.Wait(ctx, store.LeaseInterval, nil) {
			return
		}
	}
}

func (c *Chains) listenOnce(ctx context.Context) error {
	subscription, err := c.DB.Subscribe(ctx, ledger.Channel)
	if err != nil {
		return err
	}
	defer subscription.Close(ctx)
	c.Observer.OrdersChanged(nil)
	for {
		payload, err := subscription.Next(ctx)
		if err != nil {
			return err
		}
		var changes []order.Change
		if err := json.Unmarshal([]byte(payload), &changes); err != nil {
			return fmt.Errorf("notification: %w", err)
		}
		c.Observer.OrdersChanged(changes)
	}
}
