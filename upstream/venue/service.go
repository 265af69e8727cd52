package venue

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/quote"
	"crossgate/upstream"
)

// quoteLife is how long a price, and a transaction that came with it, are considered valid.
const quoteLife = 30 * time.Second

// service describes a venue that is an API: its addresses, its requests and how its answers are read.
//
// It returns price and transaction in one answer. Or it is asked again for a transaction if its price wins: by the same
// template with its additions for building, or by another one.
type service struct {
	Service
	profile   quote.Profile // without name and contracts
	contracts []deployment
	functions callReader // of its routers, if their arguments are enough to find payee and minimum
	program   string     // called by its transactions on Solana; empty: it does not serve Solana
	header    string     // of all requests: name=value, with the key and settings alone; left out if the value is empty
	asks      requestTemplate
	answers   answerTemplate
	refuses   refusals
	// finish reads the rest of a price; nil: there is none.
	finish func(a reply, p quote.Profile, s quote.Swap, o proposal) (proposal, error)
	builds *requestTemplate // nil: asks is used
	built  answerTemplate   // answers to builds
	// prepare completes the venue according to its options; nil: nothing is missing.
	prepare func(v *aggregator) (quote.Venue, error)
}

// deployment is a venue's contracts on the chains that share them.
type deployment struct {
	chains   []uint64 // by EIP-155 ID
	routers  []string // called by its transactions, the current one first
	approves string   // approved by the sender; empty: the router
}

// on returns the profile for those of the venue's chains that are in the registry.
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

// open returns the venue.
func (v *service) open(o Options) (quote.Venue, error) {
	for _, t := range []*requestTemplate{&v.asks, v.builds, {query: v.header}} {
		if err := t.check(v.Accepts); err != nil {
			return nil, err
		}
	}
	made := &aggregator{Options: o, service: v, profile: v.on(o.Registry), sends: http.Header{}}
	word := func(name string) string { return v.asks.word(name, &question{aggregator: made}) }
	expand(v.header, word, made.sends.Set)
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
	sends   http.Header // header with its values; shared by requests, so never modified
}

var _ quote.Venue = (*aggregator)(nil)

// Profile implements quote.Venue.
func (v *aggregator) Profile() quote.Profile { return v.profile }

// kept holds the parts of a quote's transaction, with the part of the request that the price does not depend on.
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
		Expires: asked.Add(quoteLife), Route: kept{found, s.Sender, s.Recipient, s.Priority},
	}, nil
}

func (v *aggregator) price(ctx context.Context, s quote.Swap) (proposal, error) {
	if err := v.profile.Suits(s); err != nil {
		return proposal{}, err
	}
	asked := &question{aggregator: v, swap: s}
	return v.ask(ctx, "quote", &v.asks, asked, func(resp upstream.Response) (proposal, error) {
		return v.readPrice(resp, asked.swap)
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
	case v.isAskedOnce(): // another wallet or priority needs a new transaction
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
	made, err := v.ask(ctx, "build", asks, &question{v, s, own.proposal, true}, func(resp upstream.Response) (proposal, error) {
		return v.readBuilt(resp, s, q)
	})
	return made.tx, err
}

// own returns the parts that q holds, which must be a quote of this venue.
func (v *aggregator) own(q quote.Quote) (kept, error) {
	own, ours := q.Route.(kept)
	if !ours || q.Venue != v.Name {
		return kept{}, fmt.Errorf("%s build of a quote that is not its own", v.Name)
	}
	return own, nil
}

func (v *aggregator) ask(
	ctx context.Context, attempt string, t *requestTemplate, q *question, read func(upstream.Response) (proposal, error),
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

// readPrice reads a price, and its transaction if that comes with it.
func (v *aggregator) readPrice(resp upstream.Response, s quote.Swap) (o proposal, err error) {
	a, err := v.judge(resp)
	if err == nil {
		o, err = v.answers.read(a, v.profile, s)
	}
	if err == nil && v.finish != nil {
		o, err = v.finish(a, v.profile, s, o)
	}
	if err == nil && o.out.IsZero() {
		err = noSwapRoute("nothing comes out")
	}
	if err == nil && v.isAskedOnce() && !v.profile.Writes {
		o.tx, err = o.build(v.profile, s, o.out)
	}
	return o, err
}

// readBuilt reads the transaction for a quote. An answer without an output is taken to be at the quoted price.
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
