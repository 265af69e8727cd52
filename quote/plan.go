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

// Execution decides which ways the swaps of a chain may take.
type Execution uint8

// An operator's choices.
const (
	PreferRouter Execution = iota // Routed, so that one approval serves all; Direct if no venue can be reached that way
	DirectOnly
	BestWay // whichever leaves the recipient more
)

// venueQuery is a request to one venue, with the ways that its quote serves.
type venueQuery struct {
	profiledVenue
	swap Swap
	ways []Way
	// compareOnly is why the venue's direct transaction cannot be used, if so: it is compared but never wins.
	compareOnly error
}

type queryPlan struct {
	queries []venueQuery
	// reserve is asked if the others fail: with PreferRouter, the venues that the public router does not call.
	reserve []venueQuery
	leftOut []Asked // venues that serve the chain but not the request
}

// Why venues are left out.
var (
	errUnlisted  = errors.New("the public router does not call it")
	errOnlyWraps = errors.New("it only wraps and unwraps the coin, for the sender")
	errUnread    = errors.New("its contract is not known to enforce the swap")
	errOnward    = errors.New("the output goes on to another contract")
)

// publicRouter takes the place of a venue's name in the report that nothing can be routed.
const publicRouter = "public router"

// plan decides which venues are asked, and by which ways, about the trade in its current state.
func (t *trade) plan() queryPlan {
	p := queryPlan{queries: make([]venueQuery, 0, len(t.venues))}
	if t.router.unknown {
		p.leave(publicRouter, Routed, t.router.absent)
	}
	preferred := t.chain.Execution == PreferRouter
	for _, v := range t.venues {
		if v.profile.Wraps && !isWrapping(t.swap) {
			p.leave(v.profile.Name, Direct, errOnlyWraps)
			continue
		}
		direct, notDirect := v.direct(t.direct())
		routed, notRouted := v.routed(t.swap, t.router)
		if t.request.Onward != nil {
			notDirect = errOnward
		}
		switch {
		case notRouted == nil && (preferred || notDirect != nil):
			p.queries = append(p.queries, routed)
			if notDirect == nil && !t.router.calls(v.profile.Routers[t.request.Chain]) {
				p.reserve = append(p.reserve, direct) // it may call an unlisted router
			}
		case notRouted == nil && direct.swap.Affiliate.Percent.IsZero():
			routed.ways = []Way{Routed, Direct} // one price for both
			routed.compareOnly = direct.compareOnly
			p.queries = append(p.queries, routed)
		case notRouted == nil:
			p.queries = append(p.queries, routed, direct)
		case notDirect == nil && preferred && !v.profile.Wraps:
			p.reserve = append(p.reserve, direct)
		case notDirect == nil:
			p.queries = append(p.queries, direct)
		default:
			p.leave(v.profile.Name, Direct, fmt.Errorf("directly: %w; through the public router: %w", notDirect, notRouted))
		}
	}
	if len(p.queries) == 0 {
		p.queries, p.reserve = p.reserve, nil
	}
	return p
}

func (p *queryPlan) leave(venue string, way Way, why error) {
	p.leftOut = append(p.leftOut, Asked{Venue: venue, Way: way, Verdict: LeftOut, Err: why})
}

func isWrapping(s Swap) bool {
	return isCoin(s.Chain, s.In) && isCoin(s.Chain, s.Out) && s.Sender == s.Recipient
}

// direct plans the venue's own transaction, which pays the affiliate and the operator itself.
func (v profiledVenue) direct(s Swap) (venueQuery, error) {
	if v.profile.Read == nil && s.Chain.Family != chain.SVM {
		return venueQuery{}, errUnread
	}
	if err := v.profile.Suits(s); err != nil {
		return venueQuery{}, err
	}
	q := venueQuery{profiledVenue: v, swap: s, ways: []Way{Direct}}
	if _, elsewhere := v.profile.Approves[s.Chain.ID]; elsewhere && !s.In.Address.IsNative() {
		// Clients approve the contract that they call, since the answer names no other.
		q.compareOnly = fmt.Errorf("%w: the input must be approved for another contract than the called one", ErrRefused)
	}
	return q, nil
}

// routed plans a call through the public router, which acts as the venue's sender and recipient and pays the affiliate.
func (v profiledVenue) routed(s Swap, r routing) (venueQuery, error) {
	if r.router == nil {
		return venueQuery{}, r.absent
	}
	if !r.calls(v.profile.Routers[s.Chain.ID]) && !slices.ContainsFunc(v.profile.MoreRouters[s.Chain.ID], r.calls) {
		return venueQuery{}, errUnlisted
	}
	if _, err := affiliateEnvelope(s.Affiliate); err != nil {
		return venueQuery{}, err
	}
	return venueQuery{profiledVenue: v, swap: r.before(s), ways: []Way{Routed}}, nil
}

type routing struct {
	router  Router // nil if there is none or it must not be used
	terms   RouterTerms
	absent  error // why there is none
	unknown bool  // its chain did not answer
}

func (r routing) calls(contract chain.Address) bool { return r.terms.Calls[contract] }

// before returns the swap for a venue behind the public router.
func (r routing) before(s Swap) Swap {
	s.Sender, s.Recipient, s.Affiliate = r.terms.Address, r.terms.Address, Affiliate{}
	return s
}

// termsPatience is how long to wait for the public router's terms; without them swaps are direct.
const termsPatience = time.Second

// readRouter asks the public router for its terms if it may be used. If it is preferred and its chain does not answer,
// that is an error: the other way would require approving another contract.
func (t *trade) readRouter(ctx context.Context) (routing, error) {
	switch {
	case t.chain.Execution == DirectOnly && t.request.Onward == nil:
		return routing{absent: errors.New("disabled on this chain")}, nil
	case t.chain.Router == nil:
		return routing{absent: ErrNoRouter}, nil
	}
	contracts := make([]chain.Address, 0, 3*len(t.venues))
	for _, v := range t.venues { // all that its transactions may call or have approved
		router := v.profile.Routers[t.request.Chain]
		contracts = append(contracts, router, v.profile.Spender(t.request.Chain, router))
		contracts = append(contracts, v.profile.MoreRouters[t.request.Chain]...)
	}
	if t.request.Onward != nil {
		contracts = append(contracts, t.request.Onward.Target)
	}
	slices.SortFunc(contracts, chain.Address.Compare)
	ctx, cancel := context.WithTimeout(ctx, termsPatience)
	defer cancel()
	terms, err := t.chain.Router.Terms(ctx, slices.Compact(contracts))
	switch {
	case err == nil && t.request.Onward != nil && !terms.Calls[t.request.Onward.Target]:
		return routing{absent: fmt.Errorf("%w that calls %s", ErrNoRouter, t.request.Onward.Target)}, nil
	case err == nil:
		return routing{router: t.chain.Router, terms: terms}, nil
	case errors.Is(err, ErrNoRouter):
		return routing{absent: err}, nil
	case t.chain.Execution == PreferRouter:
		return routing{}, fmt.Errorf("deployment of the public router is unknown: %w", err)
	}
	return routing{absent: err, unknown: true}, nil
}
