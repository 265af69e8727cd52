package quote

import (
	"context"
	"math/big"
	"slices"
	"time"

	"crossgate/chain"
)

// comparison is what the venues' answers come to for one request.
type comparison struct {
	at     time.Time // when they were asked
	offers []*offer  // best first once ranked
	lost   []built   // passed every check, and left less than another
	won    *built
	told   []Asked // the others
	quoted bool    // at least one venue has a route
	prices market
}

// offer is a quote by one way, with the venue that stands by it.
type offer struct {
	entry
	way      Way
	routing  routing
	swap     Swap // as the venue sees it
	quote    Quote
	outcome  outcome
	tellOnly error
	score    *big.Int // see rank
}

// compare asks the venues, or takes what they said to others since a time, and finds the best transaction. With
// an error the comparison tells how it came to it.
func (e *Estimator) compare(
	ctx context.Context, r Request, s Swap, p plan, awaitPrices func() market, since time.Time,
) (comparison, error) {
	answered, err := e.shared(ctx, r, s, p.asked, since)
	if err != nil {
		return comparison{told: p.leftOut}, err
	}
	c := p.offers(s, answered)
	c.prices = awaitPrices().implied(s, c.offers)
	c.rank(s)
	return c, e.choose(ctx, r, s, &c)
}

// offers makes an offer of every way that an answer serves.
func (p plan) offers(s Swap, answered round) comparison {
	c := comparison{
		at: answered.at, quoted: answered.quoted(), told: slices.Clone(p.leftOut), offers: make([]*offer, 0, len(p.asked)),
	}
	for i, q := range p.asked {
		a := answered.answers[i]
		if a.verdict != Outbid {
			c.told = append(c.told, Asked{
				Venue: q.profile.Name, Way: q.ways[0], Verdict: a.verdict, Took: a.quote.Took, Err: a.err,
			})
			continue
		}
		for _, way := range q.ways {
			o := &offer{entry: q.entry, way: way, quote: a.quote}
			if way == Routed {
				o.routing, o.swap = p.route, p.route.before(s)
			} else {
				o.tellOnly, o.swap = q.tellOnly, withShare(s, p.operator)
			}
			o.outcome = newOutcome(a.quote.AmountOut, p.charges(way, s.Affiliate), s.SlippagePercent)
			c.offers = append(c.offers, o)
		}
	}
	return c
}

// refuse takes an offer out of the comparison.
func (c *comparison) refuse(o *offer, err error) {
	told := o.told(Refused)
	told.Err = err
	c.told = append(c.told, told)
}

// told is what can be said about an offer.
func (o *offer) told(v Verdict) Asked {
	return Asked{
		Venue: o.profile.Name, Way: o.way, Verdict: v, Took: o.quote.Took,
		AmountOut: o.quote.AmountOut, Net: o.outcome.net(), Gas: o.gas(), Err: o.tellOnly,
	}
}

func (b *built) told(v Verdict) Asked {
	told := b.offer.told(v)
	told.Net, told.Finding, told.Err = b.received(), b.finding, b.untried
	return told
}

// asked lists everybody, those with a quote best first.
func (c *comparison) asked() []Asked {
	all := make([]Asked, 0, 1+len(c.lost)+len(c.offers)+len(c.told))
	if c.won != nil {
		all = append(all, c.won.told(Won))
	}
	for i := range c.lost {
		all = append(all, c.lost[i].told(Outbid))
	}
	for _, o := range c.offers {
		all = append(all, o.told(Outbid))
	}
	return append(all, c.told...)
}

// received is what the recipient gets as far as is known: what a trial showed, or what the quote comes to.
func (b *built) received() chain.Amount {
	if b.finding != nil && b.finding.Measured {
		return b.finding.Received
	}
	return b.outcome.net()
}
