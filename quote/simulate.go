package quote

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// simulationPatience is how long a simulation is waited for; an answer without one is better than a late one.
const simulationPatience = time.Second

// simulate runs b's transaction where the chain can, and refuses one that does not do what it says. Where it
// cannot, b keeps the reason and is not refused.
func (t *trade) simulate(ctx context.Context, b *built) (err error) {
	if t.chain.Simulator == nil {
		b.notSimulated = fmt.Errorf("%w: no simulation on this chain", ErrNotSimulated)
		return nil
	}
	ctx, span := startVenue(ctx, "quote.try", b.profile.Name)
	defer func() { finish(span, err) }()
	ctx, cancel := context.WithTimeout(ctx, simulationPatience)
	defer cancel()
	simulation := Simulation{
		Sender: t.swap.Sender, Recipient: t.swap.Recipient, In: t.swap.In.Address, Out: t.swap.Out.Address,
		AmountIn: t.swap.In.Amount, Tx: b.tx, Spender: b.tx.To,
	}
	if b.way == Routed {
		simulation.Through = t.router.terms.Address
	}
	got, err := t.chain.Simulator.Simulate(ctx, simulation)
	switch minimum := b.payout.minimum; {
	case errors.Is(err, ErrReverted):
		return err
	case err != nil:
		span.RecordError(err)
		if b.notSimulated = err; !errors.Is(err, ErrNotSimulated) {
			b.notSimulated = fmt.Errorf("%w: %w", ErrNotSimulated, err)
		}
		return nil
	case !got.Left.IsZero():
		return fmt.Errorf("%w: it leaves %s of the input in the public router, where anybody can take it",
			ErrRefused, got.Left)
	case got.Measured && got.Received.Cmp(minimum) < 0:
		return fmt.Errorf("%w: the recipient would get %s, less than the minimum %s", ErrRefused, got.Received, minimum)
	}
	b.result = &got
	return nil
}
