package evm

import (
	"context"
	"errors"
	"fmt"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/order"
	"crossgate/order/onchain"
)

// States reads orders from DlnSource; see order.Reader.
func (c *Chain) States(ctx context.Context, ids []order.ID) ([]order.StoredState, error) {
	return c.storedStates(ctx, c.chain.Contracts.DlnSource, ids, onchain.GiveOrderCall, onchain.GivePatchesCall, onchain.DecodeGiveOrder)
}

// TakeStates reads orders from DlnDestination; see order.Reader.
func (c *Chain) TakeStates(ctx context.Context, ids []order.ID) ([]order.StoredState, error) {
	return c.storedStates(ctx, c.chain.Contracts.DlnDestination, ids, onchain.TakeOrderCall, onchain.TakePatchesCall, onchain.DecodeTakeOrder)
}

// storedStates reads orders from a contract, and the patches of their amounts, which it stores separately.
func (c *Chain) storedStates(
	ctx context.Context, contract chain.Address, ids []order.ID, orders, patches func(order.ID) []byte,
	decode func(answer []byte) (order.StoredState, error),
) ([]order.StoredState, error) {
	if contract.IsAbsent() {
		return nil, fmt.Errorf("chain %d: no contract is configured that stores orders", c.chain.ID)
	}
	var calls []chain.ContractCall
	for _, id := range ids {
		calls = append(calls, chain.ContractCall{To: contract, Data: orders(id)}, chain.ContractCall{To: contract, Data: patches(id)})
	}
	weight := func(returned []byte) int {
		if _, err := decode(returned); err != nil && len(returned) != words.Size { // that of a patch
			return 0
		}
		return weightOf(returned)
	}
	replies, err := c.callContracts(ctx, c.rpc, calls, weight)
	if err != nil {
		return nil, err
	}
	found := make([]order.StoredState, len(ids))
	for i, id := range ids {
		stored, err := decode(replies[2*i].data)
		patch, patchErr := onchain.DecodePatches(replies[2*i+1].data)
		if err := errors.Join(err, patchErr); err != nil {
			found[i].Err = fmt.Errorf("chain %d: order %s: %w", c.chain.ID, id, err)
			continue
		}
		found[i] = order.StoredState{State: stored.State, Amount: stored.Amount.Add(patch), IsSingle: replies[2*i].isSingle || replies[2*i+1].isSingle}
	}
	return found, ctx.Err()
}

// Origin returns the first block with orders according to the registry, else a block before the time since which the
// registry knows of orders, else block 0; see order.Reader.
func (c *Chain) Origin(ctx context.Context) (uint64, error) {
	var latest *header
	if err := c.rpc.All(ctx, headerCall(&latest, newestTag)); err != nil {
		return 0, err
	}
	c.sawHead(latest)
	if known := c.chain.FirstBlock; known > 0 && known <= uint64(latest.Number) { // else another chain has that id
		return known, nil
	}
	if since := c.chain.Since; !since.IsZero() && uint64(since.Unix()) < uint64(latest.Timestamp) {
		return c.blockBefore(ctx, uint64(since.Unix()), *latest, nil)
	}
	return 0, nil
}
