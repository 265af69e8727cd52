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
		found[i] = order.StoredState{State: stored.State, Amount: stored.Amount.Add(patch)}
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
		if found[i], err = onchain.DecodeTakeOrder(answers[i]); err != nil {
			return nil, fmt.Errorf("chain %d: order %s: %w", c.chain.ID, id, err)
		}
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
	answers, by, err := c.callContracts(ctx, c.rpc, calls)
	if err != nil {
		return nil, err
	}
	_, _ = c.confirmZeros(ctx, calls, answers, by) // else they are as one endpoint says
	return answers, ctx.Err()
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
