package venue

import (
	"context"
	"fmt"
	"slices"
	"time"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/quote"
	"crossgate/upstream"
)

// serviceLife is how long a price, and a transaction that came with it, are good for where the API does not say.
const serviceLife = 30 * time.Second

// service is a venue that is an API: its addresses, its requests and how its answers are read.
//
// It answers with price and transaction at once. Or it is asked twice, for a transaction when its price wins: by the
// same template, where that says what more to ask, or by another one.
type service struct {
	Service
	settings  []string      // that it knows
	profile   quote.Profile // without name and contracts
	contracts []deployment
	functions callReader // of its routers, where they alone name payee and minimum
	program   string     // that its transactions call on Solana; empty: it does not serve that
	asks      requestTemplate
	answers   answerTemplate
	refuses   refusals
	// finish reads the rest of a price, nil when there is none.
	finish func(a reply, p quote.Profile, s quote.Swap, o *proposal) error
	builds *requestTemplate // nil: by asks
	built  answerTemplate   // of builds
	// prepare completes the venue for what its options say; nil: nothing is missing.
	prepare func(v *aggregator) (quote.Venue, error)
}

// deployment is the contracts of a venue on the chains that have the same.
type deployment struct {
	chains   []uint64 // by EIP-155 id
	routers  []string // that its transactions call, today's first
	approves string   // what the sender approves; empty: the router
}

// on is the profile on those of the venue's chains that are in the registry.
func (v *service) on(registry chain.Registry) quote.Profile {
	p := v.profile
	p.Name, p.Routers = v.Name, map[chain.ID]chain.Address{}
	if v.functions != nil {
		p.Read = v.functions.read
	}
	p.MoreRouters, p.Approves = map[chain.ID][]chain.Address{}, map[chain.ID]chain.Address{}
	for _, c := range registry.All() {
		for _, d := range v.contracts {
			if c.Family != chain.EVM || !slices.Contains(d.chains, c.Native) {
				continue
			}
			p.Routers[c.ID] = contract(d.routers[0])
			for _, more := range d.routers[1:] {
				p.MoreRouters[c.ID] = append(p.MoreRouters[c.ID], contract(more))
			}
			if d.approves != "" {
				p.Approves[c.ID] = contract(d.approves)
			}
		}
	}
	if _, known := registry.Chain(chain.Solana); known && v.program != "" {
		p.Routers[chain.Solana] = solana.MustAccount(v.program)
	}
	return p
}

// open makes the venue.
func (v *service) open(o Options) (quote.Venue, error) {
	for _, t := range []*requestTemplate{&v.asks, v.builds} {
		if err := t.check(v.settings); err != nil {
			return nil, err
		}
	}
	made := &aggregator{Options: o, service: v, profile: v.on(o.Registry)}
	if v.prepare != nil {
		return v.prepare(made)
	}
	return made, nil
}

// aggregator is the venue of a service.
type aggregator struct {
	Options
	*service
	profile quote.Profile
}

var _ quote.Venue = (*aggregator)(nil)

// Profile implements quote.Venue.
func (v *aggregator) Profile() quote.Profile { return v.profile }

// kept is what a quote's transaction is made of, with the part of the request that the price does not depend on.
type kept struct {
	proposal
	sender, recipient chain.Address
	priority          quote.Priority
}

func (v *aggregator) isAskedOnce() bool { return v.builds == nil && v.asks.builds == "" }

// Quote implements quote.Venue.
func (v *aggregator) Quote(ctx context.Context, s quote.Swap) (quote.Quote, error) {
	asked := v.Now()
	found, err := v.price(ctx, s)
	if err != nil {
		return quote.Quote{}, err
	}
	return quote.Quote{
		Venue: v.Name, AmountOut: found.out, Gas: found.gas,
		Expires: asked.Add(serviceLife), Route: kept{found, s.Sender, s.Recipient, s.Priority},
	}, nil
}

func (v *aggregator) price(ctx context.Context, s quote.Swap) (proposal, error) {
	if err := v.profile.Suits(s); err != nil {
		return proposal{}, err
	}
	return v.ask(ctx, "quote", &v.asks, question{Options: v.Options, swap: s}, func(resp upstream.Response) (proposal, error) {
		return v.readPrice(resp, s)
	})
}

// Build implements quote.Venue.
func (v *aggregator) Build(ctx context.Context, s quote.Swap, q quote.Quote) (quote.Tx, error) {
	own, err := v.own(q)
	switch {
	case err != nil:
		return quote.Tx{}, err
	case v.isAskedOnce() && own.sender == s.Sender && own.recipient == s.Recipient && own.priority == s.Priority:
		return own.tx, nil
	case v.isAskedOnce(): // another wallet or priority has a transaction made anew
		fresh, err := v.price(ctx, s)
		if err == nil {
			err = checkMoved(fresh.out, q)
		}
		return fresh.tx, err
	}
	asks := &v.asks
	if v.builds != nil {
		asks = v.builds
	}
	made, err := v.ask(ctx, "build", asks, question{v.Options, s, own.proposal, true}, func(resp upstream.Response) (proposal, error) {
		return v.readBuilt(resp, s, q)
	})
	return made.tx, err
}

// own returns what q keeps, which must be a quote of this venue's.
func (v *aggregator) own(q quote.Quote) (kept, error) {
	own, ours := q.Route.(kept)
	if !ours || q.Venue != v.Name {
		return kept{}, fmt.Errorf("%s build of a quote that is not its own", v.Name)
	}
	return own, nil
}

func (v *aggregator) ask(
	ctx context.Context, attempt string, t *requestTemplate, q question, read func(upstream.Response) (proposal, error),
) (found proposal, err error) {
	request, err := t.request(q)
	if err == nil {
		found, err = ask(ctx, v.Pool, request, read)
	}
	if err != nil {
		return proposal{}, fmt.Errorf("%s %s on chain %d: %w", v.Name, attempt, q.swap.Chain.ID, err)
	}
	return found, nil
}

// readPrice reads a price, and its transaction where that comes with it.
func (v *aggregator) readPrice(resp upstream.Response, s quote.Swap) (o proposal, err error) {
	a, err := v.judge(resp)
	if err == nil {
		o, err = v.answers.read(a, v.profile, s)
	}
	if err == nil && v.finish != nil {
		err = v.finish(a, v.profile, s, &o)
	}
	if err == nil && o.out.IsZero() {
		err = noSwapRoute("nothing comes out")
	}
	if err == nil && v.isAskedOnce() && !v.profile.Writes {
		o.tx, err = o.build(v.profile, s, o.out)
	}
	return o, err
}

// readBuilt reads the transaction for a quote. An answer that does not repeat the outcome is of the price quoted.
func (v *aggregator) readBuilt(resp upstream.Response, s quote.Swap, q quote.Quote) (o proposal, err error) {
	template := v.answers
	if v.builds != nil {
		template = v.built
	}
	a, err := v.judge(resp)
	if err == nil {
		o, err = template.read(a, v.profile, s)
	}
	if err == nil && template.out != "" {
		err = checkMoved(o.out, q)
	}
	if err == nil {
		o.tx, err = o.build(v.profile, s, q.AmountOut)
	}
	return o, err
}
