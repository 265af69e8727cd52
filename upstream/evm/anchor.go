package evm

import (
	"context"
	"errors"
	"fmt"

	"crossgate/order"
	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

var _ order.AnchoredSource = (*Chain)(nil)

// Testify implements order.AnchoredSource.
func (c *Chain) Testify(ctx context.Context, number uint64, most int) map[string]order.Block {
	return jsonrpc.Alone(upstream.Background.For(ctx), c.rpc, most, func(ctx context.Context, alone *jsonrpc.Client) (order.Block, error) {
		var found *header
		if err := alone.All(ctx, existingHeaderCall(&found, Quantity(number))); err != nil {
			return order.Block{}, err
		}
		return found.block(), nil
	})
}

// Anchor implements order.AnchoredSource.
func (c *Chain) Anchor(block order.Block, atOnce bool) {
	if block.Hash.IsAbsent() {
		c.rpc.Anchor(nil, atOnce)
		return
	}
	c.rpc.Anchor(jsonrpc.NewCall(new(*header), func(h *header) error {
		switch {
		case h == nil:
			return &upstream.Error{Class: upstream.Rejected, Err: errors.New("node lacks the anchor")}
		case uint64(h.Number) != block.Number || h.Hash != block.Hash:
			return fmt.Errorf("%w: its block %d is %s, not %s", order.ErrOtherBranch, h.Number, h.Hash, block.Hash)
		}
		return nil
	}, getBlockByNumber, Quantity(block.Number), false), atOnce)
}

// Suspend implements order.AnchoredSource.
func (c *Chain) Suspend(cause error) { c.rpc.Suspend(cause) }
