package solana

import (
	"context"
	"fmt"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/upstream"
	"crossgate/upstream/jsonrpc"
)

var _ order.AnchoredSource = (*Chain)(nil)

// Testify implements order.AnchoredSource.
func (c *Chain) Testify(ctx context.Context, slot uint64, most int) map[string]order.Block {
	return jsonrpc.Alone(upstream.Background.For(ctx), c.rpc, most, func(ctx context.Context, alone *jsonrpc.Client) (order.Block, error) {
		found, err := c.blockBy(ctx, alone, slot)
		if err == nil && found.Number > slot {
			return found, order.ErrNotFound // dropped
		}
		return found, err
	})
}

// Anchor implements order.AnchoredSource.
func (c *Chain) Anchor(anchor order.Block, atOnce bool) {
	if anchor.Hash.IsAbsent() {
		c.rpc.Anchor(nil, atOnce)
		return
	}
	asked := blockCall(new(*block), anchor.Number)
	complete := asked.Accept
	asked.Accept = func(result any) error {
		if err := complete(result); err != nil {
			return err
		}
		if got := chain.Hash((*result.(**block)).Blockhash); got != anchor.Hash {
			return fmt.Errorf("%w: its block of slot %d is %s, not %s",
				order.ErrOtherBranch, anchor.Number, got.Format(chain.SVM), anchor.Hash.Format(chain.SVM))
		}
		return nil
	}
	c.rpc.Anchor(asked, atOnce)
}

// Suspend implements order.AnchoredSource.
func (c *Chain) Suspend(cause error) { c.rpc.Suspend(cause) }
