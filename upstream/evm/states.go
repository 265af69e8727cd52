package evm

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/onchain"
)

var (
	_ order.StateReader     = (*Chain)(nil)
	_ order.TakeStateReader = (*Chain)(nil)
)

// States reads orders from DlnSource; see order.StateReader.
func (c *Chain) States(ctx context.Context, ids []order.ID) ([]order.StoredState, error) {
	return c.storedStates(ctx, c.chain.Contracts.DlnSource, ids, onchain.GiveOrderCall, onchain.GivePatchesCall, onchain.DecodeGiveOrder)
}

// TakeStates reads orders from DlnDestination; see order.TakeStateReader.
func (c *Chain) TakeStates(ctx context.Context, ids []order.ID) ([]order.StoredState, error) {
	return c.storedStates(ctx, c.chain.Contracts.DlnDestination, ids, onchain.TakeOrderCall, onchain.TakePatchesCall, onchain.DecodeTakeOrder)
}

// storedStates asks a contract about orders and about the patches of their amounts, which it stores apart.
func (c *Chain) storedStates(
	ctx context.Context, contract chain.Address, ids []order.ID, orders, patches func(order.ID) []byte,
	decode func(answer []byte) (order.StoredState, error),
) ([]order.StoredState, error) {
	if contract.IsAbsent() {
		return nil, fmt.Errorf("chain %d: no contract is configured that stores orders", c.chain.ID)
	}
	var calls []contractCall
	for _, id := range ids {
		calls = append(calls, contractCall{contract, orders(id)}, contractCall{contract, patches(id)})
	}
	answers, by, err := c.callContracts(ctx, c.rpc, calls)
	if err != nil {
		return nil, err
	}
	_, _ = c.confirmZeros(ctx, calls, answers, by) // else they are as one endpoint says
	found := make([]order.StoredState, len(ids))
	for i, id := range ids {
		stored, err := decode(answers[2*i])
		patch, patchErr := onchain.DecodePatches(answers[2*i+1])
		if err := errors.Join(err, patchErr); err != nil {
			return nil, fmt.Errorf("chain %d: order %s: %w", c.chain.ID, id, err)
		}
		found[i] = order.StoredState{State: stored.State, Amount: stored.Amount.Add(patch)}
	}
	return found, ctx.Err()
}

// confirmZeros asks another voice about empty answers and zeros, and takes its others. single are those that remain one
// endpoint's word since no other can be expected to answer.
func (c *Chain) confirmZeros(ctx context.Context, calls []contractCall, answers [][]byte, by []string) (single []int, err error) {
	var zeros []contractCall
	for i, answer := range answers {
		if len(bytes.Trim(answer, "\x00")) == 0 {
			zeros, single = append(zeros, calls[i]), append(single, i)
		}
	}
	other := c.rpc.Other("eth_call", by...)
	if len(zeros) == 0 || other == nil {
		return single, nil
	}
	again, _, err := c.callContracts(ctx, other, zeros)
	if err != nil {
		return nil, err
	}
	for i, place := range single {
		if len(answers[place]) == 0 || len(bytes.Trim(again[i], "\x00")) > 0 { // zeros are an answer, nothing is none
			answers[place] = again[i]
		}
	}
	return nil, nil
}

// Origin returns the first block with orders as the registry knows it, else a block before the time since which it
// knows of orders, block 0 where it does not; see order.StateReader.
func (c *Chain) Origin(ctx context.Context) (uint64, error) {
	var latest *header
	if err := c.rpc.All(ctx, headerCall(&latest, newestTag)); err != nil {
		return 0, err
	}
	c.sawHead(latest)
	if known := c.chain.FirstBlock; known > 0 && known <= uint64(latest.Number) { // else it is another chain of that id
		return known, nil
	}
	if since := c.chain.Since; since > 0 && since < uint64(latest.Timestamp) {
		return c.blockBefore(ctx, since, *latest, nil)
	}
	return 0, nil
}
