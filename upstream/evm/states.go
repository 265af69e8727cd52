package evm

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/onchain"
	"crossgate/upstream/jsonrpc"
)

var _ order.StateReader = (*Chain)(nil)

// States reads orders from DlnSource; see order.StateReader.
func (c *Chain) States(ctx context.Context, ids []order.ID) ([]order.StoredState, error) {
	if c.chain.Contracts.DlnSource.IsAbsent() {
		return nil, fmt.Errorf("chain %d: no contract is configured that stores orders", c.chain.ID)
	}
	calls := make([]contractCall, len(ids))
	for i, id := range ids {
		calls[i] = contractCall{c.chain.Contracts.DlnSource, onchain.GiveOrderCall(id)}
	}
	answers, err := c.callContracts(ctx, calls)
	if err != nil {
		return nil, err
	}
	found := make([]order.StoredState, len(ids))
	for i, answer := range answers {
		stored, err := onchain.DecodeGiveOrder(answer)
		if err != nil {
			return nil, fmt.Errorf("chain %d: order %s: %w", c.chain.ID, ids[i], err)
		}
		found[i] = order.StoredState{State: stored.Status.State(), Amount: stored.Amount}
	}
	return found, nil
}

// Origin finds the first block with one of the order contracts by asking past blocks for their code, which
// takes nodes that keep past state; without any it is block 0. See order.StateReader.
func (c *Chain) Origin(ctx context.Context) (uint64, error) {
	var latest *header
	if err := c.rpc.All(ctx, headerCall(&latest, "latest")); err != nil {
		return 0, err
	}
	if latest == nil {
		return 0, fmt.Errorf("chain %d: no latest block", c.chain.ID)
	}
	if c.recent {
		return 0, nil
	}
	return c.firstCode(ctx, uint64(latest.Number), c.chain.Contracts.DlnSource, c.chain.Contracts.DlnDestination)
}

// firstCode returns the first block up to last at which one of contracts exists, or 0 where nodes do not
// have past state.
func (c *Chain) firstCode(ctx context.Context, last uint64, contracts ...chain.Address) (uint64, error) {
	var before uint64 // at which none exists
	for last-before > 1 {
		middle := before + (last-before)/2
		exists, err := c.hasCode(ctx, quantity(middle), contracts)
		var refused *jsonrpc.Error
		switch {
		case errors.As(err, &refused):
			return 0, nil
		case err != nil:
			return 0, err
		case exists:
			last = middle
		default:
			before = middle
		}
	}
	return last, nil
}

// hasCode reports whether one of contracts exists at a block.
func (c *Chain) hasCode(ctx context.Context, block quantity, contracts []chain.Address) (bool, error) {
	codes := make([]payload, len(contracts))
	calls := make([]*jsonrpc.Call, len(contracts))
	for i, contract := range contracts {
		calls[i] = jsonrpc.NewCall(&codes[i], nil, "eth_getCode", contract, block)
	}
	if err := c.rpc.All(ctx, calls...); err != nil {
		return false, err
	}
	return slices.ContainsFunc(codes, func(code payload) bool { return len(code) > 0 }), nil
}
