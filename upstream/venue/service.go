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

func (v *service) open(o Options) (quote.Venue, error) {
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

func (v *aggregator) isAskedOnce() bool { return v.builds == nil && v.asks.builds == "" }

// Quote implements quote.Venue.
func (v *aggregator) Quote(ctx context.Context, s quote.Swap) (quote.Quote, error) {
	asked := v.Now()
	q, err := v.price(ctx, s)
	if err != nil {
		return quote.Quote{}, err
	}
	return quote.Quote{Venue: v.Name, AmountOut: q.out, Gas: q.gas, Expires: asked.Add(quoteLife), Route: q}, nil
}

func (v *aggregator) price(ctx context.Context, s quote.Swap) (*question, error) {
	if err := v.profile.Suits(s); err != nil {
		return nil, err
	}
	q := &question{aggregator: v, swap: s}
	return q, q.ask(ctx, "quote", &v.asks, (*question).readPrice)
}

// Build implements quote.Venue.
func (v *aggregator) Build(ctx context.Context, s quote.Swap, q quote.Quote) (quote.Tx, error) {
	made, err := v.own(q)
	if err != nil {
		return quote.Tx{}, err
	}
	isSame := made.swap.Sender == s.Sender && made.swap.Recipient == s.Recipient && made.swap.Priority == s.Priority
	switch {
	case !v.isAskedOnce():
		asks := &v.asks
		if v.builds != nil {
			asks = v.builds
		}
		made = &question{aggregator: v, swap: s, proposal: made.proposal, builds: true}
		err = made.ask(ctx, "build", asks, (*question).readBuilt)
	case !isSame: // another wallet or priority needs a new transaction
		if made, err = v.price(ctx, s); err == nil {
			err = checkMoved(made.out, q.AmountOut)
		}
	}
	if err != nil {
		return quote.Tx{}, err
	}
	return made.tx, nil
}

// own returns the answered question of q, which must be a quote of this venue.
func (v *aggregator) own(q quote.Quote) (*question, error) {
	own, ours := q.Route.(*question)
	if !ours || q.Venue != v.Name {
		return nil, fmt.Errorf("%s: build of another venue's quote", v.Name)
	}
	return own, nil
}

// readPrice reads a price, and its transaction if that comes with it.
func (q *question) readPrice(resp upstream.Response) (o proposal, err error) {
	a, err := q.judge(resp)
	if err == nil {
		o, err = q.answers.read(a, q.profile, q.swap)
	}
	if err == nil && q.finish != nil {
		o, err = q.finish(a, q.profile, q.swap, o)
	}
	if err == nil && o.out.IsZero() {
		err = noSwapRoute("nothing comes out")
	}
	if err == nil && q.isAskedOnce() && !q.profile.Writes {
		o.tx, err = o.build(q.profile, q.swap, o.out)
	}
	return o, err
}

// readBuilt reads the transaction for a quote. An answer without an output is taken to be at the quoted price.
func (q *question) readBuilt(resp upstream.Response) (o proposal, err error) {
	template := q.answers
	if q.aggregator.builds != nil {
		template = q.built
	}
	a, err := q.judge(resp)
	if err == nil {
		o, err = template.read(a, q.profile, q.swap)
	}
	if err == nil && template.out != "" {
		err = checkMoved(o.out, q.out)
	}
	if err == nil {
		o.tx, err = o.build(q.profile, q.swap, q.out)
	}
	return o, err
}
