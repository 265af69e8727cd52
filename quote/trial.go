package quote

import (
	"context"
	"errors"
	"fmt"
	"time"

	"crossgate/chain"
)

// ErrNoTrial means that a transaction could not be tried, which says nothing about the transaction.
var ErrNoTrial = errors.New("not tried")

// trialPatience is how long a trial is waited for; an answer without one is better than a late one.
const trialPatience = time.Second

// Simulator is a chain that can tell what an account has and what a transaction would do.
type Simulator interface {
	// Balance is what holder has of a token; the zero address is the native coin.
	Balance(ctx context.Context, token, holder chain.Address) (chain.Amount, error)
	// Simulate runs a transaction on the newest block as if the sender had, and had allowed, all that it
	// takes. The error wraps ErrReverted when it would fail for certain, ErrNoTrial when the chain cannot tell.
	Simulate(ctx context.Context, t Trial) (Finding, error)
}

// Trial is a transaction to be tried, and what to look at.
type Trial struct {
	Sender, Recipient chain.Address
	In, Out           chain.Address // the zero address is the native coin
	AmountIn          chain.Amount
	Tx                Tx
	Spender           chain.Address // whom the sender allows to take a token input
	// Through is the public router when the transaction goes through it: it must keep nothing of the input.
	Through chain.Address
}

// Finding is what a trial showed.
type Finding struct {
	// Measured says that the amounts were seen; otherwise it is only known that the transaction goes through.
	Measured bool
	Received chain.Amount // by the recipient, out token
	Gross    chain.Amount // by the public router, before its shares; zero in a direct swap
	Left     chain.Amount // of the input with the public router
	Gas      uint64       // that the transaction needs; zero when it was not told
}

// try runs a transaction where the chain can, and refuses one that does not do what it says. Finding no
// way to try it is no refusal: the second error says why.
func (e *Estimator) try(ctx context.Context, s Swap, b built) (found *Finding, untried, err error) {
	simulator, can := e.simulators[s.Chain.ID]
	if !can {
		return nil, fmt.Errorf("%w: no simulation on this chain", ErrNoTrial), nil
	}
	ctx, span := startVenue(ctx, "quote.try", b.profile.Name)
	defer func() { finish(span, err) }()
	ctx, cancel := context.WithTimeout(ctx, trialPatience)
	defer cancel()
	t := Trial{
		Sender: s.Sender, Recipient: s.Recipient, In: s.In.Address, Out: s.Out.Address, AmountIn: s.In.Amount,
		Tx: b.tx, Spender: b.tx.To,
	}
	if b.way == Routed {
		t.Through = b.routing.terms.Address
	}
	got, err := simulator.Simulate(ctx, t)
	switch {
	case errors.Is(err, ErrReverted):
		return nil, nil, err
	case err != nil:
		span.RecordError(err)
		return nil, fmt.Errorf("%w: %w", ErrNoTrial, err), nil
	case !got.Left.IsZero():
		return nil, nil, fmt.Errorf("%w: it leaves %s of the input in the public router, where anybody can take it", ErrRefused, got.Left)
	case got.Measured && got.Received.Cmp(b.outcome.minimum) < 0:
		return nil, nil, fmt.Errorf("%w: the recipient would get %s, less than the minimum %s", ErrRefused, got.Received, b.outcome.minimum)
	}
	return &got, nil, nil
}
