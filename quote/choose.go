package quote

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"crossgate/chain"
)

// ErrExpired means that a venue no longer stands by its quote.
var ErrExpired = errors.New("quote expired")

// built is an offer with the transaction that makes it.
type built struct {
	offer
	tx      Tx
	dataFee chain.Amount // what the chain takes for publishing it, wei
	placed  chain.Amount // what it pays for its place in a block on Solana, lamports
	finding *Finding     // nil when the transaction was not tried
	untried error        // why not
	// final is the score with the data fee taken off. Offers that are not built have none yet, so a score is
	// compared with theirs, and final with that of others that are.
	final *big.Int
}

// clearLead is how much more a quote must promise than a transaction that was seen to pay for it to be worth
// finding out, in parts of ten thousand. Blocks move prices by about as much.
const clearLead = 2

// choose finds the transaction that leaves the recipient most. A quote is a promise, so the best one is built
// and tried first; when it pays less than another promises, that one is, too. An offer that does not pass
// leaves the comparison.
func (e *Estimator) choose(ctx context.Context, r Request, s Swap, c *comparison) error {
	for len(c.offers) > 0 && ctx.Err() == nil {
		next := c.offers[0]
		if next.tellOnly != nil {
			next = c.firstToWin()
		}
		if next == nil || c.won != nil && !next.leads(c.won.score) {
			break
		}
		c.offers = slices.DeleteFunc(c.offers, next.is)
		made, err := e.build(ctx, r, s, next)
		if err != nil {
			c.refuse(next, err)
			continue
		}
		made.score, made.final = made.measure(s, c.prices)
		c.settle(made)
	}
	switch {
	case c.won != nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("comparing venues: %w", ctx.Err())
	}
	return c.failure()
}

// firstToWin is the best offer whose transaction can be ours, nil when there is none.
func (c *comparison) firstToWin() *offer {
	for _, o := range c.offers {
		if o.tellOnly == nil {
			return o
		}
	}
	return nil
}

func (o *offer) is(other *offer) bool {
	return o.profile.Name == other.profile.Name && o.way == other.way
}

// leads reports whether the offer promises clearly more than score.
func (o *offer) leads(score *big.Int) bool {
	margin := new(big.Int).Div(new(big.Int).Mul(score, big.NewInt(clearLead)), big.NewInt(wholeBps))
	return o.score.Cmp(margin.Add(margin, score)) > 0
}

// settle makes a transaction the best so far, or one of the others.
func (c *comparison) settle(made built) {
	if c.won == nil {
		c.won = &made
		return
	}
	if made.final.Cmp(c.won.final) > 0 {
		*c.won, made = made, *c.won
	}
	c.lost = append(c.lost, made)
	slices.SortStableFunc(c.lost, func(a, b built) int { return b.final.Cmp(a.final) })
}

var errNoTransaction = fmt.Errorf("%w: prices alone were asked for", ErrNoTrial)

// build makes one offer's transaction and tries it, whatever the venue does.
func (e *Estimator) build(ctx context.Context, r Request, s Swap, o *offer) (b built, err error) {
	ctx, span := startVenue(ctx, "quote.build", o.profile.Name)
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic while building: %v", cause)
		}
		if err != nil {
			e.measures.refused(ctx, o.profile.Name, err)
			e.log.WarnContext(ctx, "swap transaction refused",
				"venue", o.profile.Name, "chain", s.Chain.ID, "execution", o.way.String(), "error", err)
		}
		finish(span, err)
	}()
	if !o.quote.Expires.IsZero() && !e.now().Before(o.quote.Expires) {
		return built{}, ErrExpired
	}
	b = built{offer: *o}
	if r.Recipient.IsAbsent() {
		b.untried, b.placed = errNoTransaction, b.placeFee(s)
		return b, r.satisfiedBy(b.outcome)
	}
	if b.tx, err = e.transaction(ctx, o); err != nil {
		return built{}, err
	}
	if o.way == Routed {
		b.tx, err = o.routing.wrap(s, o.profile, b.tx, o.outcome, r.ReferralCode)
	} else {
		b.outcome, err = o.directOutcome(s, b.tx)
	}
	if err == nil {
		err = r.satisfiedBy(b.outcome)
	}
	if err != nil {
		return built{}, err
	}
	fee, ready := make(chan chain.Amount, 1), b
	go func() { fee <- e.dataFee(ctx, s, ready) }()
	b.finding, b.untried, err = e.try(ctx, s, b)
	b.dataFee = <-fee
	if err != nil {
		return built{}, err
	}
	b.outcome, b.placed = b.outcome.seen(b.finding), b.placeFee(s)
	return b, s.Kept.covers(withRoom(b.gas()), b.dataFee.Add(b.placed))
}

// transaction has the venue make its own and looks it over.
func (e *Estimator) transaction(ctx context.Context, o *offer) (Tx, error) {
	ctx, cancel := context.WithTimeout(ctx, e.window)
	defer cancel()
	tx, err := o.venue.Build(ctx, o.swap, o.quote)
	if err != nil {
		return Tx{}, err
	}
	return tx, guard(o.swap, o.profile, tx)
}
