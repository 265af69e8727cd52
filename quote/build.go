package quote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"crossgate/chain"
)

// ErrExpired means that a venue no longer stands by its quote.
var ErrExpired = errors.New("quote expired")

type built struct {
	candidate
	tx           Tx
	dataFee      chain.Amount // charged by the chain for publishing tx, wei; zero if unknown
	isFeeKnown   bool         // whether dataFee is known
	priorityFee  chain.Amount // priority fee on Solana, lamports
	result       *Result      // nil if the transaction was not simulated
	notSimulated error        // why it was not simulated
	// final is score with data and priority fees, for comparing built transactions. Candidates are compared by score.
	final score
}

// clearLead is the lead, in basis points, that a quote must have over a simulated payout to be worth building.
const clearLead = 2

// choose builds and simulates candidates, best first, while the next promises clearly more than the winner so far.
func (t *trade) choose(ctx context.Context, c *comparison) error {
	for ctx.Err() == nil {
		at := slices.IndexFunc(c.candidates, func(o *candidate) bool { return o.compareOnly == nil })
		if at < 0 || c.won != nil && !c.candidates[at].leads(c.won.score) {
			break
		}
		next := c.candidates[at]
		c.candidates = slices.Delete(c.candidates, at, at+1)
		made, err := t.build(ctx, next)
		if err != nil {
			c.refuse(next, err)
			continue
		}
		made.score = t.afterGas(made.received(), made.gas(), c.prices)
		made.final = made.score
		made.final.cost = made.final.cost.Add(c.prices.inOut(made.dataFee.Add(made.priorityFee)))
		c.record(made)
	}
	switch {
	case c.won != nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("comparing venues: %w", ctx.Err())
	}
	return c.failure()
}

// leads reports whether the candidate promises clearly more than another score.
func (o *candidate) leads(other score) bool {
	other.gain = other.gain.Add(other.gain.Sub(other.cost).MulDiv(clearLead, wholeBps))
	return o.score.cmp(other) > 0
}

// record keeps a built transaction as the winner so far or among the losers, which it keeps best first.
func (c *comparison) record(made built) {
	if c.won == nil {
		c.won = &made
		return
	}
	if made.final.cmp(c.won.final) > 0 {
		*c.won, made = made, *c.won
	}
	c.lost = append(c.lost, made)
	slices.SortStableFunc(c.lost, func(a, b built) int { return b.final.cmp(a.final) })
}

var errNoTransaction = fmt.Errorf("%w: only prices were requested", ErrNotSimulated)

// build builds, checks and simulates one candidate's transaction. It turns a venue's panic into an error.
func (t *trade) build(ctx context.Context, o *candidate) (b built, err error) {
	ctx, span := start(ctx, "quote.build", venueKey.String(o.profile.Name))
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic while building: %v", cause)
		}
		if err != nil {
			t.measures.refusals.Add(ctx, 1, t.measures.of(venueOutcome{o.profile.Name, reason(err), reasonKey}).add...)
			t.Logger.WarnContext(ctx, "swap transaction refused",
				"venue", o.profile.Name, "chain", t.request.Chain, "execution", o.way.String(), "error", err)
		}
		finish(span, err)
	}()
	if !o.quote.Expires.IsZero() && !t.Now().Before(o.quote.Expires) {
		return built{}, ErrExpired
	}
	b = built{candidate: *o}
	if t.request.Recipient.IsAbsent() {
		b.notSimulated, b.priorityFee = errNoTransaction, t.priorityFee(&b)
		b.dataFee, b.isFeeKnown = t.usualDataFee()
		return b, t.satisfied(b.payout)
	}
	if err := t.transaction(ctx, &b); err != nil {
		return built{}, err
	}
	if err := t.satisfied(b.payout); err != nil {
		return built{}, err
	}
	var reading sync.WaitGroup
	tx, gas, fee, isKnown := b.tx, b.gas(), chain.Amount{}, false
	reading.Go(func() { fee, isKnown = t.dataFee(ctx, tx, gas) }) // best effort: the answer may lack the fee
	err = t.simulate(ctx, &b)
	reading.Wait()
	if b.dataFee, b.isFeeKnown = fee, isKnown; err != nil {
		return built{}, err
	}
	t.fitBudget(&b)
	b.payout, b.priorityFee = b.payout.seen(b.result), t.priorityFee(&b)
	if t.kept != nil && !isKnown {
		return built{}, fmt.Errorf("%w: its data fee is unknown", ErrRefused)
	}
	return b, t.kept.Covers(WithMargin(b.gas()), b.dataFee.Add(b.priorityFee))
}

// transaction has the venue build, checks that, and wraps it into the public router's call, one that goes on to another
// contract as well, or takes over its minimum.
func (t *trade) transaction(ctx context.Context, b *built) error {
	if t.chain.Guard == nil {
		return fmt.Errorf("%w: transactions of chain %d cannot be checked", ErrRefused, t.request.Chain)
	}
	ctx, cancel := context.WithTimeout(ctx, t.Window)
	defer cancel()
	tx, err := b.venue.Build(ctx, b.swap, b.quote)
	if err != nil {
		return err
	}
	if err := t.chain.Guard.Check(b.swap, b.profile, tx); err != nil {
		return err
	}
	if b.way == Routed && !t.router.calls(tx.To) {
		return fmt.Errorf("%w: the public router does not call %s", ErrRefused, tx.To)
	}
	if o := t.request.Onward; o != nil {
		if b.payout.gross.Cmp(o.Expected) < 0 {
			return fmt.Errorf("%w: it pays %s, less than the expected %s", ErrRefused, b.payout.gross, o.Expected)
		}
		b.tx, b.payout.minimum = o.Make(tx), o.Expected
		return nil
	}
	if b.way == Routed {
		b.tx, err = t.wrap(b.profile, tx, b.payout.minimum)
		return err
	}
	if b.payout.minimum, err = t.chain.Guard.MinOut(b.swap, b.profile, tx, b.payout.minimum); err != nil {
		return err
	}
	b.tx, err = t.pay(ctx, tx)
	return err
}

// received returns the recipient's amount: as simulated if it was measured, otherwise as promised by the quote.
func (b *built) received() chain.Amount {
	if b.result != nil && b.result.Measured {
		return b.result.Received
	}
	return b.payout.net()
}

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
