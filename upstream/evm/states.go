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

var (
	_ order.StateReader     = (*Chain)(nil)
	_ order.TakeStateReader = (*Chain)(nil)
)

// States reads orders from DlnSource, which stores give amounts and their patches apart; see order.StateReader.
func (c *Chain) States(ctx context.Context, ids []order.ID) ([]order.StoredState, error) {
	answers, err := c.storedOrders(ctx, c.chain.Contracts.DlnSource, ids, onchain.GiveOrderCall, onchain.GivePatchesCall)
	if err != nil {
		return nil, err
	}
	found := make([]order.StoredState, len(ids))
	for i, id := range ids {
		stored, err := onchain.DecodeGiveOrder(answers[i])
		patch, patchErr := onchain.DecodePatches(answers[len(ids)+i])
		if err := errors.Join(err, patchErr); err != nil {
			return nil, fmt.Errorf("chain %d: order %s: %w", c.chain.ID, id, err)
		}
		found[i] = order.StoredState{State: stored.Status.State(), Amount: stored.Amount.Add(patch)}
	}
	return found, nil
}

// TakeStates reads orders from DlnDestination; see order.TakeStateReader.
func (c *Chain) TakeStates(ctx context.Context, ids []order.ID) ([]order.State, error) {
	answers, err := c.storedOrders(ctx, c.chain.Contracts.DlnDestination, ids, onchain.TakeOrderCall)
	if err != nil {
		return nil, err
	}
	found := make([]order.State, len(ids))
	for i, id := range ids {
		stored, err := onchain.DecodeTakeOrder(answers[i])
		if err != nil {
			return nil, fmt.Errorf("chain %d: order %s: %w", c.chain.ID, id, err)
		}
		found[i] = stored.Status.State()
	}
	return found, nil
}

// storedOrders asks a contract the same questions about every order: all of one question come before those of the next.
func (c *Chain) storedOrders(
	ctx context.Context, contract chain.Address, ids []order.ID, questions ...func(order.ID) []byte,
) ([][]byte, error) {
	if contract.IsAbsent() {
		return nil, fmt.Errorf("chain %d: no contract is configured that stores orders", c.chain.ID)
	}
	var calls []contractCall
	for _, question := range questions {
		for _, id := range ids {
			calls = append(calls, contractCall{contract, question(id)})
		}
	}
	return c.callContracts(ctx, calls)
}

// Origin returns the first block with orders as the registry knows it. Elsewhere it finds the first one with one of the
// order contracts by asking past blocks for their code, which takes nodes that keep past state; without any it is a
// block before the time since which the registry knows of orders, block 0 where it does not. See order.StateReader.
func (c *Chain) Origin(ctx context.Context) (uint64, error) {
	var latest *header
	if err := c.rpc.All(ctx, headerCall(&latest, newestTag)); err != nil {
		return 0, err
	}
	c.sawHead(latest)
	newest := uint64(latest.Number)
	if known := c.chain.FirstBlock; known > 0 && known <= newest { // else it is another chain of that id
		return known, nil
	}
	if !c.recent {
		origin, err := c.firstCode(ctx, newest, c.chain.Contracts.DlnSource, c.chain.Contracts.DlnDestination)
		if origin > 0 || err != nil {
			return origin, err
		}
	}
	if since := c.chain.Since; since > 0 && since < uint64(latest.Timestamp) {
		return c.blockBefore(ctx, since, *latest, nil)
	}
	return 0, nil
}

// firstCode returns the first block up to last at which one of contracts exists, or 0 where nodes do not
// have past state.
func (c *Chain) firstCode(ctx context.Context, last uint64, contracts ...chain.Address) (uint64, error) {
	var before uint64 // at which none exists
	for last-before > 1 {
		middle := before + (last-before)/2
		exists, err := c.hasCode(ctx, Quantity(middle), contracts)
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
func (c *Chain) hasCode(ctx context.Context, block Quantity, contracts []chain.Address) (bool, error) {
	codes := make([]Payload, len(contracts))
	calls := make([]*jsonrpc.Call, len(contracts))
	for i, contract := range contracts {
		calls[i] = jsonrpc.NewCall(&codes[i], nil, "eth_getCode", contract, block)
		calls[i].Reach = c.stateAt(uint64(block))
	}
	if err := c.rpc.All(ctx, calls...); err != nil {
		return false, err
	}
	return slices.ContainsFunc(codes, func(code Payload) bool { return len(code) > 0 }), nil
}
