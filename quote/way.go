package quote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"crossgate/chain"
)

// Way is how a swap's transaction reaches the venue.
type Way uint8

// The two ways.
const (
	Direct Way = iota // the sender calls the venue's router
	Routed            // the sender calls the public router, which calls the venue's
)

func (w Way) String() string { return [...]string{"direct", "router"}[w] }

// Execution is which ways the swaps of a chain may take.
type Execution uint8

// The choices of an operator.
const (
	PreferRouter Execution = iota // Routed, so that one approval serves all; Direct when nobody can be reached so
	DirectOnly
	BestWay // whichever leaves the recipient more
)

// termsPatience is how long the public router's terms are waited for; without them swaps go directly.
const termsPatience = time.Second

// question is what one venue is asked, for the ways that its answer serves.
type question struct {
	entry
	swap Swap
	ways []Way
	// tellOnly says why its direct transaction cannot be ours, if so: it is compared, and never wins.
	tellOnly error
}

// routing is what the chain's public router is, for one request.
type routing struct {
	router  Router // nil: there is none, or it is not to be used
	terms   RouterTerms
	absent  error // why there is none
	unknown bool  // its chain did not say
}

// plan is whom to ask what for one request.
type plan struct {
	asked []question
	// reserve are asked when the others come to nothing: where the public router is preferred, those whom it
	// does not call.
	reserve  []question
	route    routing
	operator Affiliate // who is paid a share of the input of direct swaps
	leftOut  []Asked   // venues that serve the chain and can do nothing for the request
}

// plan fails where the public router is preferred and its chain does not say whether it stands: a swap that goes
// another way then would want another contract approved.
func (e *Estimator) plan(ctx context.Context, r Request, s Swap, serving []entry) (plan, error) {
	p := plan{
		route: e.routing(ctx, r, serving), operator: e.operators[r.Chain], asked: make([]question, 0, len(serving)),
	}
	preferred := e.execution(r.Chain) == PreferRouter
	if p.route.unknown {
		if preferred {
			return plan{}, fmt.Errorf("whether the public router stands is not known: %w", p.route.absent)
		}
		p.leftOut = append(p.leftOut, Asked{Venue: publicRouter, Way: Routed, Verdict: LeftOut, Err: p.route.absent})
	}
	for _, one := range serving {
		if one.profile.Wraps && !isWrapping(s) {
			p.leftOut = append(p.leftOut, Asked{Venue: one.profile.Name, Verdict: LeftOut, Err: errOnlyWraps})
			continue
		}
		direct, notDirect := one.direct(s, p.operator)
		routed, notRouted := one.routed(s, p.route)
		switch {
		case notRouted == nil && (preferred || notDirect != nil):
			p.asked = append(p.asked, routed)
			if notDirect == nil && !p.route.calls(one.profile.Routers[r.Chain]) {
				p.reserve = append(p.reserve, direct) // it may call a router that is not listed
			}
		case notRouted == nil && direct.swap.Affiliate.Percent.IsZero():
			routed.ways = []Way{Routed, Direct} // one price for both
			routed.tellOnly = direct.tellOnly
			p.asked = append(p.asked, routed)
		case notRouted == nil:
			p.asked = append(p.asked, routed, direct)
		case notDirect == nil && preferred && !one.profile.Wraps:
			p.reserve = append(p.reserve, direct)
		case notDirect == nil:
			p.asked = append(p.asked, direct)
		default:
			err := fmt.Errorf("directly: %w; through the public router: %w", notDirect, notRouted)
			p.leftOut = append(p.leftOut, Asked{Venue: one.profile.Name, Verdict: LeftOut, Err: err})
		}
	}
	if len(p.asked) == 0 {
		p.asked, p.reserve = p.reserve, nil
	}
	return p, nil
}

// publicRouter stands for a venue's name where it is told that there are no ways through the public router.
const publicRouter = "public router"

// spared tells of the reserve that it was not needed.
func (p plan) spared() []Asked {
	spared := make([]Asked, len(p.reserve))
	for i, q := range p.reserve {
		spared[i] = Asked{Venue: q.profile.Name, Verdict: LeftOut, Err: errUnlisted}
	}
	return spared
}

var errUnlisted = errors.New("the public router does not call it")

var errOnlyWraps = errors.New("it only wraps and unwraps the coin, for the sender")

func isWrapping(s Swap) bool {
	return isCoin(s.Chain, s.In) && isCoin(s.Chain, s.Out) && s.Sender == s.Recipient
}

func (e *Estimator) execution(id chain.ID) Execution {
	if chosen, own := e.executions[id]; own {
		return chosen
	}
	return e.usual
}

// routing asks the chain's public router for its terms, unless it is not wanted.
func (e *Estimator) routing(ctx context.Context, r Request, serving []entry) routing {
	router, stands := e.routers[r.Chain]
	switch {
	case e.execution(r.Chain) == DirectOnly:
		return routing{absent: errors.New("not wanted on this chain")}
	case !stands:
		return routing{absent: ErrNoRouter}
	}
	var contracts []chain.Address
	for _, one := range serving {
		contracts = append(contracts, one.profile.contracts(r.Chain)...)
	}
	slices.SortFunc(contracts, func(a, b chain.Address) int { return slices.Compare(a.Bytes(), b.Bytes()) })
	ctx, cancel := context.WithTimeout(ctx, termsPatience)
	defer cancel()
	terms, err := router.Terms(ctx, slices.Compact(contracts))
	if err != nil {
		return routing{absent: err, unknown: !errors.Is(err, ErrNoRouter)}
	}
	return routing{router: router, terms: terms}
}

// contracts are all that the venue's transactions may call or have approved.
func (p Profile) contracts(id chain.ID) []chain.Address {
	all := append([]chain.Address{p.Routers[id]}, p.MoreRouters[id]...)
	if spender, differs := p.Approves[id]; differs {
		all = append(all, spender)
	}
	return all
}

// direct plans the venue's own transaction, which pays the affiliate and the operator itself.
func (o entry) direct(s Swap, operator Affiliate) (question, error) {
	s = withShare(s, operator)
	if share := s.Affiliate.Percent.Add(s.Second.Percent); share.GreaterThan(o.profile.MaxAffiliatePercent) {
		return question{}, fmt.Errorf("it does not pay %s %% of the input to others: %w", share, ErrNoRoute)
	}
	if s.Second.Percent.IsPositive() && !o.profile.PaysTwo {
		return question{}, fmt.Errorf("it pays a share to one recipient, not to affiliate and operator: %w", ErrNoRoute)
	}
	q := question{entry: o, swap: s, ways: []Way{Direct}}
	if _, elsewhere := o.profile.Approves[s.Chain.ID]; elsewhere && !s.In.Address.IsNative() {
		// Callers approve the contract that they call, as the answer names no other.
		q.tellOnly = fmt.Errorf("%w: it takes the input by another contract than the one that is called", ErrRefused)
	}
	return q, nil
}

// routed plans a call through the public router, which stands before the venue as sender and recipient and
// pays the affiliate itself: the venue's answer depends on nobody's wallet.
func (o entry) routed(s Swap, r routing) (question, error) {
	if r.router == nil {
		return question{}, r.absent
	}
	if !r.calls(o.profile.Routers[s.Chain.ID]) && !slices.ContainsFunc(o.profile.MoreRouters[s.Chain.ID], r.calls) {
		return question{}, errUnlisted
	}
	if _, err := affiliateEnvelope(s.Affiliate); err != nil {
		return question{}, err
	}
	return question{entry: o, swap: r.before(s), ways: []Way{Routed}}, nil
}

func (r routing) calls(contract chain.Address) bool { return r.terms.Calls[contract] }

// before is the swap as a venue sees it behind the public router.
func (r routing) before(s Swap) Swap {
	s.Sender, s.Recipient, s.Affiliate = r.terms.Address, r.terms.Address, Affiliate{}
	return s
}

// withShare is the swap as a venue sees it that is called directly: it pays the operator beside the affiliate.
func withShare(s Swap, operator Affiliate) Swap {
	if s.Affiliate.Percent.IsPositive() {
		s.Second = operator
	} else {
		s.Affiliate = operator
	}
	return s
}

// charges are what the way takes beside what the venue keeps for itself. The operator has nothing of a swap through the
// public router, which has its own fee.
func (p plan) charges(w Way, a Affiliate) charges {
	if w == Routed {
		return charges{protocolBps: p.route.terms.FeeBps, affiliateBps: a.bps()}
	}
	return charges{operatorBps: p.operator.bps(), inputBps: p.operator.bps() + a.bps()}
}
