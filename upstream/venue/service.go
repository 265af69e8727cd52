package venue

// What services have in common. Some answer with price and transaction at once, most are asked twice; a
// venue's file holds what it says and hears, and this one the walk.

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

// pricedRoute is a price, and R, the source of its transaction.
type pricedRoute[R any] struct {
	amountOut chain.Amount
	gas       uint64
	route     R
}

// pricing is a service as far as it is asked for prices.
type pricing[R any] struct {
	Options
	profile quote.Profile
	request func(Options, quote.Swap) (upstream.Request, error) // or why the venue cannot serve the swap
	read    func(upstream.Response, quote.Profile, quote.Swap) (pricedRoute[R], error)
}

// kept is the part of a quote that its transaction needs, and the part of the request that its price does not depend
// on.
type kept[R any] struct {
	route             R
	sender, recipient chain.Address
	priority          quote.Priority
}

// Profile implements quote.Venue.
func (p *pricing[R]) Profile() quote.Profile { return p.profile }

// Quote implements quote.Venue.
func (p *pricing[R]) Quote(ctx context.Context, s quote.Swap) (quote.Quote, error) {
	asked := p.Now()
	found, err := p.price(ctx, s)
	if err != nil {
		return quote.Quote{}, err
	}
	return quote.Quote{
		Venue: p.profile.Name, AmountOut: found.amountOut, Gas: found.gas,
		Expires: asked.Add(serviceLife), Route: kept[R]{found.route, s.Sender, s.Recipient, s.Priority},
	}, nil
}

func (p *pricing[R]) price(ctx context.Context, s quote.Swap) (pricedRoute[R], error) {
	if err := suits(p.profile, s); err != nil {
		return pricedRoute[R]{}, err
	}
	request, err := p.request(p.Options, s)
	if err != nil {
		return pricedRoute[R]{}, p.failed("quote", s, err)
	}
	found, err := ask(ctx, p.Pool, request, func(resp upstream.Response) (pricedRoute[R], error) {
		return something(p.read(resp, p.profile, s))
	})
	if err != nil {
		return pricedRoute[R]{}, p.failed("quote", s, err)
	}
	return found, nil
}

func (p *pricing[R]) failed(attempt string, s quote.Swap, err error) error {
	return fmt.Errorf("%s %s on chain %d: %w", p.profile.Name, attempt, s.Chain.ID, err)
}

// something turns a price of zero into ErrNoRoute.
func something[R any](found pricedRoute[R], err error) (pricedRoute[R], error) {
	if err == nil && found.amountOut.IsZero() {
		return pricedRoute[R]{}, noSwapRoute("nothing comes out")
	}
	return found, err
}

// own returns what q keeps, which must be a quote of this venue's.
func (p *pricing[R]) own(q quote.Quote) (kept[R], error) {
	own, ours := q.Route.(kept[R])
	if !ours || q.Venue != p.profile.Name {
		return kept[R]{}, fmt.Errorf("%s build of a quote that is not its own", p.profile.Name)
	}
	return own, nil
}

// oneCall is a service that answers with price and transaction at once, made for one sender, recipient and priority.
type oneCall struct{ pricing[quote.Tx] }

var _ quote.Venue = (*oneCall)(nil)

// Build implements quote.Venue. Other wallets than those that the quote was asked for have one made for them, and so
// has another priority.
func (v *oneCall) Build(ctx context.Context, s quote.Swap, q quote.Quote) (quote.Tx, error) {
	own, err := v.own(q)
	if err != nil {
		return quote.Tx{}, err
	}
	if own.sender == s.Sender && own.recipient == s.Recipient && own.priority == s.Priority {
		return own.route, nil
	}
	fresh, err := v.price(ctx, s)
	if err != nil {
		return quote.Tx{}, err
	}
	if err := checkMoved(fresh.amountOut, q); err != nil {
		return quote.Tx{}, v.failed("build", s, err)
	}
	return fresh.route, nil
}

// twoCalls is a service that is asked for a price, which does not depend on a wallet, and for the transaction
// when it wins.
type twoCalls[R any] struct {
	pricing[R]
	buildRequest func(Options, quote.Swap, R) (upstream.Request, error)
	readBuild    func(upstream.Response, quote.Profile, quote.Swap, quote.Quote) (quote.Tx, error)
}

var _ quote.Venue = (*twoCalls[quote.Tx])(nil)

// Build implements quote.Venue.
func (v *twoCalls[R]) Build(ctx context.Context, s quote.Swap, q quote.Quote) (quote.Tx, error) {
	own, err := v.own(q)
	if err != nil {
		return quote.Tx{}, err
	}
	request, err := v.buildRequest(v.Options, s, own.route)
	if err != nil {
		return quote.Tx{}, v.failed("build", s, err)
	}
	tx, err := ask(ctx, v.Pool, request, func(resp upstream.Response) (quote.Tx, error) {
		return v.readBuild(resp, v.profile, s, q)
	})
	if err != nil {
		return quote.Tx{}, v.failed("build", s, err)
	}
	return tx, nil
}

// oneCall makes v a venue that is asked for price and transaction at once.
func (v service) oneCall(
	request func(Options, quote.Swap) (upstream.Request, error),
	read func(upstream.Response, quote.Profile, quote.Swap) (pricedRoute[quote.Tx], error),
) func(Options) (quote.Venue, error) {
	return func(o Options) (quote.Venue, error) {
		return &oneCall{pricing[quote.Tx]{o, v.on(o.Registry), request, read}}, nil
	}
}

// pricesAgain makes v a venue that prices again for its transaction: the same is asked twice, the second time, when it
// builds, for a wallet.
func (v service) pricesAgain(
	request func(o Options, s quote.Swap, builds bool) (upstream.Request, error), read reader,
) func(Options) (quote.Venue, error) {
	return func(o Options) (quote.Venue, error) {
		return &twoCalls[quote.Tx]{
			pricing: pricing[quote.Tx]{
				Options: o, profile: v.on(o.Registry), read: read.price,
				request: func(o Options, s quote.Swap) (upstream.Request, error) { return request(o, s, false) },
			},
			buildRequest: func(o Options, s quote.Swap, _ quote.Tx) (upstream.Request, error) { return request(o, s, true) },
			readBuild:    read.tx,
		}, nil
	}
}

// service is where an aggregator's API and its contracts are.
type service struct {
	Service
	profile   quote.Profile // without name and contracts
	contracts []deployment
	functions callReader // of its routers, where they alone name payee and minimum
	program   string     // that its transactions call on Solana; empty: it does not serve that
}

// deployment is the contracts of a venue on the chains that have the same.
type deployment struct {
	chains   []uint64 // by EIP-155 id
	routers  []string // that its transactions call, today's first
	approves string   // what the sender approves; empty: the router
}

// on is the profile on those of the venue's chains that are in the registry.
func (v service) on(registry chain.Registry) quote.Profile {
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
