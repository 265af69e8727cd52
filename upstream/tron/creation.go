package tron

import (
	"context"
	"errors"
	"fmt"

	"crossgate/order/creation"
	"crossgate/quote"
)

// Creation simulates the transaction for a sender who must have everything it takes, and checks that DlnSource returns
// the promised order's id, which is derived from its terms. Errors are those of swap.Simulator.Creation; through a
// router, or for a sender who lacks the input, nothing can be simulated. creation.ErrUnapproved means that the sender
// has the input but has not approved it, and that all but pulling it was checked; the energy is returned, too.
func (s *Simulator) Creation(ctx context.Context, t creation.Transaction, promised creation.Promise) (energy uint64, err error) {
	token, amount, isPermitted, err := creation.Payment(t.Data)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", creation.ErrBroken, err)
	}
	if t.To != s.chain.Facts().Contracts.DlnSource {
		return 0, fmt.Errorf("%w: TRON's nodes report no events of a simulation", quote.ErrNotSimulated)
	}
	unapproved := s.affordable(ctx, quote.Simulation{
		Sender: t.Sender, In: token, AmountIn: amount, Spender: t.To, IsPermitted: isPermitted, Tx: quote.Tx{Value: t.Value},
	})
	switch {
	case errors.Is(unapproved, creation.ErrUnapproved):
		return s.BeforeApproval(ctx, t, promised)
	case unapproved != nil:
		return 0, unapproved
	}
	return s.Returns(ctx, t, promised.ID)
}
