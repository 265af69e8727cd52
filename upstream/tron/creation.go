package tron

import (
	"context"
	"fmt"

	"crossgate/order/creation"
	"crossgate/quote"
	"crossgate/upstream/evm"
	"crossgate/upstream/evm/swap"
	"crossgate/upstream/jsonrpc"
)

// Creation makes the transaction as the sender can, who must have what it takes, and checks that DlnSource returns the
// promised order's id, which is made of its terms. Errors are those of swap.Simulator.Creation; behind a router, or
// for a sender who lacks the input, nothing can be simulated.
func (s *Simulator) Creation(ctx context.Context, t creation.Transaction, promised creation.Promise) (energy uint64, err error) {
	token, amount, _, err := creation.Payment(t.Data)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", creation.ErrBroken, err)
	}
	if t.To != s.chain.Facts().Contracts.DlnSource {
		return 0, fmt.Errorf("%w: TRON's nodes report no events of a simulation", quote.ErrNotSimulated)
	}
	made := quote.Simulation{Sender: t.Sender, In: token, AmountIn: amount, Spender: t.To, Tx: quote.Tx{To: t.To, Data: t.Data, Value: t.Value}}
	if err := s.affordable(ctx, made); err != nil {
		return 0, err
	}
	if energy, err = swap.NewFees(s.chain).EstimateGas(ctx, t.Sender, made.Tx); err != nil {
		return 0, err
	}
	var id evm.Payload
	message := evm.Message{From: &t.Sender, To: t.To, Data: t.Data, Value: &evm.Amount{Amount: t.Value}}
	if err := s.chain.Client().All(ctx, jsonrpc.NewCall(&id, nil, "eth_call", message, "latest")); err != nil {
		return 0, fmt.Errorf("try the creation: %w", err)
	}
	if string(id) != string(promised.ID[:]) {
		return 0, fmt.Errorf("%w: DlnSource returns %x in place of %s", creation.ErrBroken, id, promised.ID)
	}
	return energy, nil
}
