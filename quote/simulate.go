package quote

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// simulationPatience bounds a simulation. A venue gains nothing by being slow: its direct transaction is refused then.
const simulationPatience = 1500 * time.Millisecond

// ErrUnsimulated means that a transaction is not handed out because it was not simulated.
var ErrUnsimulated = errors.New("transaction was not simulated")

// simulate refuses a transaction that does not do what it says. If the chain cannot simulate it, b records the reason;
// then a doubtful one is refused, and a direct one unless the gateway wrote it or the operator allows it.
func (t *trade) simulate(ctx context.Context, b *built) error {
	if t.request.Onward != nil {
		ctx, cancel := context.WithTimeout(ctx, simulationPatience)
		defer cancel()
		gas, err := t.request.Onward.Check(ctx, b.tx)
		b.result = &Result{Gas: gas}
		return err
	}
	err := t.run(ctx, b)
	switch {
	case err != nil || b.notSimulated == nil:
		return err
	case b.doubt != nil:
		return b.doubt
	case b.way == Direct && !b.profile.Writes && !t.chain.AllowUnsimulated:
		return fmt.Errorf("%w: %w", ErrUnsimulated, b.notSimulated)
	}
	return nil
}

func (t *trade) run(ctx context.Context, b *built) error {
	if t.chain.Simulator == nil {
		b.notSimulated = fmt.Errorf("%w: no simulation on this chain", ErrNotSimulated)
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, simulationPatience)
	defer cancel()
	simulation := Simulation{
		Sender: t.swap.Sender, Recipient: t.swap.Recipient, In: t.swap.In.Address, Out: t.swap.Out.Address,
		AmountIn: t.swap.In.Amount, Tx: b.tx, Spender: b.tx.To, Gas: b.gas(),
	}
	if b.way == Routed {
		simulation.Through = t.router.terms.Address
	}
	for _, share := range []Affiliate{b.swap.Affiliate, b.swap.Second} {
		if share.Percent.IsPositive() && share.Recipient != t.swap.Sender {
			simulation.Shares = append(simulation.Shares, share)
		}
	}
	got, err := t.chain.Simulator.Simulate(ctx, simulation)
	switch minimum := b.payout.minimum; {
	case errors.Is(err, ErrReverted), errors.Is(err, ErrRefused):
		return err
	case err != nil:
		if b.notSimulated = err; !errors.Is(err, ErrNotSimulated) {
			b.notSimulated = fmt.Errorf("%w: %w", ErrNotSimulated, err)
		}
		return nil
	case !got.Left.IsZero():
		return fmt.Errorf("%w: it leaves %s of the input in the public router, where any caller can take it",
			ErrRefused, got.Left)
	case !got.Measured:
		b.notSimulated = fmt.Errorf("%w: it succeeds, but the output was not measured", ErrNotSimulated)
	case got.Received.Cmp(minimum) < 0:
		return fmt.Errorf("%w: the recipient would get %s instead of %s", ErrBelowMinimum, got.Received, minimum)
	}
	b.result = &got
	return nil
}
