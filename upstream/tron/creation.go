package tron

import (
	"context"
	"errors"
	"fmt"

	"crossgate/chain"
	"crossgate/order/creation"
	"crossgate/quote"
	"crossgate/upstream/evm"
	"crossgate/upstream/evm/swap"
	"crossgate/upstream/jsonrpc"
)

// Creation makes the transaction as the sender can, who must have what it takes, and checks that DlnSource returns the
// promised order's id, which is made of its terms. Errors are those of swap.Simulator.Creation; behind a router, or
// for a sender who lacks the input, nothing can be simulated. creation.ErrUnapproved: the sender has the input and has
// not approved it, and all but its pull was checked; the energy stands beside it.
func (s *Simulator) Creation(ctx context.Context, t creation.Transaction, promised creation.Promise) (energy uint64, err error) {
	token, amount, isPermitted, err := creation.Payment(t.Data)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", creation.ErrBroken, err)
	}
	if t.To != s.chain.Facts().Contracts.DlnSource {
		return 0, fmt.Errorf("%w: TRON's nodes report no events of a simulation", quote.ErrNotSimulated)
	}
	unapproved := s.affordable(ctx, quote.Simulation{
		Sender: t.Sender, In: token, AmountIn: amount, Spender: t.To, IsPermitted: isPermitted,
	})
	switch {
	case errors.Is(unapproved, creation.ErrUnapproved):
		if energy, err = s.ofNothing(ctx, t, promised); err == nil {
			err = unapproved
		}
		return energy, err
	case unapproved != nil:
		return 0, unapproved
	}
	return s.returns(ctx, t, promised.ID)
}

// returns makes a transaction, and checks the id that DlnSource returns.
func (s *Simulator) returns(ctx context.Context, t creation.Transaction, want chain.Hash) (energy uint64, err error) {
	if energy, err = swap.NewFees(s.chain).EstimateGas(ctx, t.Sender, quote.Tx{To: t.To, Data: t.Data, Value: t.Value}); err != nil {
		return 0, err
	}
	var id evm.Payload
	message := evm.Message{From: &t.Sender, To: t.To, Data: t.Data, Value: &evm.Amount{Amount: t.Value}}
	if err := s.chain.Client().All(ctx, jsonrpc.NewCall(&id, nil, "eth_call", message, "latest")); err != nil {
		return 0, fmt.Errorf("try the creation: %w", err)
	}
	if string(id) != string(want[:]) {
		return 0, fmt.Errorf("%w: DlnSource returns %x in place of %s", creation.ErrBroken, id, want)
	}
	return energy, nil
}

// pullEnergy is what moving an amount takes more than moving none: three words of the token's storage change.
const pullEnergy = 15_000

// ofNothing checks a creation whose input is not approved: the rules that are known have no other fault in it, and
// DlnSource makes the same order with nothing given.
func (s *Simulator) ofNothing(ctx context.Context, t creation.Transaction, promised creation.Promise) (energy uint64, err error) {
	all, err := s.Forecast(ctx, t)
	if err != nil {
		return 0, err
	}
	data, id, err := all[0].OfNothing(promised)
	switch {
	case errors.Is(err, creation.ErrUnforeseen):
		return 0, fmt.Errorf("%w: %w", quote.ErrNotSimulated, err)
	case err != nil:
		return 0, err
	}
	t.Data = data
	energy, err = s.returns(ctx, t, id)
	return energy + pullEnergy, err
}
