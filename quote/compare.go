package quote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"crossgate/chain"
)

// comparison is the progress and outcome of comparing the venues' quotes for one trade.
type comparison struct {
	at         time.Time    // when the venues were asked
	candidates []*candidate // best first once ranked
	lost       []built      // built and simulated, but left less than the winner
	won        *built
	rejected   []Asked // refused, silent or left out
	quoted     bool    // at least one venue has a route
	prices     market
	minOut     chain.Amount // while sampling: the largest minimum that a transaction would guarantee
}

// candidate is a venue's quote for one way.
type candidate struct {
	profiledVenue
	way         Way
	swap        Swap // as the venue sees it
	quote       Quote
	payout      payout
	compareOnly error
	doubt       error // of a quote that is absurdly high: it wins only if its transaction was simulated
	score       score // see rank
}

// compare asks the venues for the best transaction, then the reserve if they fail. Even on error it lists the venues.
func (t *trade) compare(ctx context.Context) (comparison, error) {
	p := t.plan()
	if len(p.queries) == 0 {
		return comparison{rejected: p.leftOut}, noVenueFits(p.leftOut)
	}
	c, err := t.ask(ctx, p.queries, p.leftOut)
	if err == nil || len(p.reserve) == 0 || ctx.Err() != nil || isDecisive(err) {
		for _, q := range p.reserve {
			c.rejected = append(c.rejected, Asked{Venue: q.profile.Name, Verdict: LeftOut, Err: errUnlisted})
		}
		return c, err
	}
	second, reserveErr := t.ask(ctx, p.reserve, nil)
	second.rejected = append(second.rejected, c.asked()...)
	// The first venues' failures explain more than the reserve's missing route or chain.
	if errors.Is(reserveErr, ErrUnsupportedChain) || requestFault(reserveErr) != nil && !t.sampling {
		return second, err
	}
	return second, reserveErr
}

// ask finds the best transaction by a quote round that may be shared or, if none of its quotes is valid any longer, by
// one of our own.
func (t *trade) ask(ctx context.Context, queries []venueQuery, leftOut []Asked) (comparison, error) {
	began := t.Now()
	c, err := t.contest(ctx, queries, leftOut, t.request.Since)
	if errors.Is(err, ErrNoTransaction) && c.at.Before(began) && !t.sampling {
		c, err = t.contest(ctx, queries, leftOut, began)
	}
	return c, err
}

// contest runs a quote round, or joins one begun since a time, and finds the best transaction or samples its minimum.
func (t *trade) contest(ctx context.Context, queries []venueQuery, leftOut []Asked, since time.Time) (comparison, error) {
	results, err := t.sharedRound(ctx, queries, since)
	if err != nil {
		return comparison{rejected: leftOut}, err
	}
	c := t.newComparison(queries, leftOut, results)
	t.doubt(&c)
	if t.sampling {
		return c, t.sample(&c)
	}
	c.prices = t.prices().implied(t.swap, c.candidates)
	t.rank(&c)
	return c, t.choose(ctx, &c)
}

// newComparison returns a comparison with a candidate for every way that a quote serves.
func (t *trade) newComparison(queries []venueQuery, leftOut []Asked, results roundResults) comparison {
	c := comparison{
		at: results.at, quoted: results.quoted(), rejected: slices.Clone(leftOut),
		candidates: make([]*candidate, 0, len(queries)),
	}
	taken := map[Way]charges{Routed: t.charges(Routed), Direct: t.charges(Direct)}
	all := make([]candidate, 0, 2*len(queries)) // for both ways at most, so that none moves
	for i, q := range queries {
		r := results.quotes[i]
		if r.verdict != Outbid {
			c.rejected = append(c.rejected, Asked{
				Venue: q.profile.Name, Way: q.ways[0], Verdict: r.verdict, Took: r.quote.Took, Err: r.err,
			})
			continue
		}
		for _, way := range q.ways {
			all = append(all, candidate{profiledVenue: q.profiledVenue, way: way, quote: r.quote})
			o := &all[len(all)-1]
			if way == Routed {
				o.swap = t.router.before(t.swap)
			} else {
				o.compareOnly, o.swap = q.compareOnly, t.direct()
			}
			slippage := t.swap.SlippagePercent
			if q.profile.Wraps {
				slippage = decimal.Zero // the price cannot move
			}
			o.payout = newPayout(r.quote.AmountOut, taken[way], slippage)
			c.candidates = append(c.candidates, o)
		}
	}
	return c
}

// mostWorth is how many times as much as the input a quote may be worth before it is in doubt.
const mostWorth = 2

// doubt keeps quotes that are worth absurdly more than the input from winning without a simulation, unless most are.
func (t *trade) doubt(c *comparison) {
	prices := t.prices()
	if prices.in == nil || prices.out == nil {
		return
	}
	worth, cost := new(big.Int).Mul(prices.in.Num(), prices.out.Denom()), new(big.Int).Mul(prices.out.Num(), prices.in.Denom())
	rate := chain.NewRatio(worth, cost, int(t.swap.Out.Token.Decimals)-int(t.swap.In.Token.Decimals))
	most := rate.Of(t.swap.In.Amount).MulDiv(mostWorth, 1)
	var absurd []*candidate
	for _, o := range c.candidates {
		if o.quote.AmountOut.Cmp(most) > 0 {
			absurd = append(absurd, o)
		}
	}
	if 2*len(absurd) > len(c.candidates) { // then a price is wrong
		return
	}
	for _, o := range absurd {
		o.doubt = fmt.Errorf("%w: it is worth more than %d times the input", ErrRefused, mostWorth)
		if t.sampling || t.request.Recipient.IsAbsent() { // nothing is simulated
			o.compareOnly = o.doubt
		}
	}
}

// rank sorts by payout after shares and gas, in the out token, or without gas if a price is missing; then by gas.
func (t *trade) rank(c *comparison) {
	for _, o := range c.candidates {
		o.score = t.afterGas(o.payout.net(), o.gas(), c.prices)
	}
	slices.SortStableFunc(c.candidates, func(a, b *candidate) int {
		return cmp.Or(b.score.cmp(a.score), cmp.Compare(a.gas(), b.gas()))
	})
}

// afterGas returns the score of an amount of the out token after paying for gas.
func (t *trade) afterGas(amount chain.Amount, gas uint64, prices market) score {
	return score{amount, prices.inOut(t.swap.GasPrice.MulDiv(gas, 1))}
}

func (c *comparison) refuse(o *candidate, err error) {
	asked := o.asked(Refused)
	asked.Err = err
	c.rejected = append(c.rejected, asked)
}

func (o *candidate) asked(v Verdict) Asked {
	return Asked{
		Venue: o.profile.Name, Way: o.way, Verdict: v, Took: o.quote.Took,
		AmountOut: o.quote.AmountOut, Net: o.payout.net(), Gas: o.gas(), Err: o.compareOnly,
	}
}

func (b *built) asked(v Verdict) Asked {
	asked := b.candidate.asked(v)
	asked.Net, asked.Result, asked.Err = b.received(), b.result, b.notSimulated
	return asked
}

// asked lists every venue: first those with a quote, best first.
func (c *comparison) asked() []Asked {
	all := make([]Asked, 0, 1+len(c.lost)+len(c.candidates)+len(c.rejected))
	if c.won != nil {
		all = append(all, c.won.asked(Won))
	}
	for i := range c.lost {
		all = append(all, c.lost[i].asked(Outbid))
	}
	for _, o := range c.candidates {
		all = append(all, o.asked(Outbid))
	}
	return append(all, c.rejected...)
}

// list returns the answer's comparison: each venue once, by its better way, largest amount first. The winner precedes
// equal amounts; a venue without a usable transaction never precedes the best of the others.
func (c *comparison) list(decimals uint8) []Compared {
	list := make([]Compared, 0, 1+len(c.lost)+len(c.candidates))
	usable := map[string]bool{} // by venue: whether its transaction could be used
	best, worth := c.won.received(), inUSD(c.prices.out, decimals)
	add := func(o *built) {
		name := cmp.Or(o.profile.AnswerName, o.profile.Name)
		if _, shown := usable[name]; shown {
			return
		}
		amount := o.received()
		if usable[name] = o.compareOnly == nil; usable[name] && amount.Cmp(best) > 0 {
			best = amount
		}
		list = append(list, Compared{
			Name: name, Amount: amount, USD: worth(amount), ImageURL: o.profile.ImageURL,
		})
	}
	add(c.won)
	rest := make([]built, 0, len(c.lost)+len(c.candidates))
	for _, o := range c.candidates {
		rest = append(rest, built{candidate: *o})
	}
	rest = append(rest, c.lost...)
	slices.SortStableFunc(rest, func(a, b built) int { return b.score.cmp(a.score) })
	for i := range rest {
		add(&rest[i])
	}
	rank := func(one Compared) (amount chain.Amount, unusable int) {
		if !usable[one.Name] && one.Amount.Cmp(best) >= 0 {
			return best, 1
		}
		return one.Amount, 0
	}
	slices.SortStableFunc(list, func(a, b Compared) int {
		amountA, unusableA := rank(a)
		amountB, unusableB := rank(b)
		return cmp.Or(amountB.Cmp(amountA), cmp.Compare(unusableA, unusableB))
	})
	for i := range list {
		// Below the best, in percent with two decimals.
		missing := list[0].Amount.Sub(list[i].Amount)
		list[i].PriceDrop = missing.Over(list[0].Amount).Round(chain.NewAmount(wholeBps)).Float64() / 100
	}
	return list
}
