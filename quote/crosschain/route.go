package crosschain

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"crossgate/chain"
	"crossgate/token"
)

// Errors of a well-formed order request.
var (
	ErrSameChain       = errors.New("source and destination chain are the same")
	ErrImpossibleRoute = errors.New("no route between the chains")
	ErrIntermediary    = errors.New("not a reserve token of the chain")
)

// Route lists the tokens of an amount's way: into a reserve token, over to its equivalent, and out of that.
type Route struct {
	TokenIn, TokenOut chain.Address
	Give, Take        token.Key // equal reserve tokens of the source and the destination chain
}

// SwapsBefore and SwapsAfter report whether the order's tokens differ from the reserve tokens.
func (r Route) SwapsBefore() bool { return r.TokenIn != r.Give.Address }
func (r Route) SwapsAfter() bool  { return r.TokenOut != r.Take.Address }

// swaps returns how many swaps a route needs.
func (r Route) swaps() (n int) {
	for _, is := range []bool{r.SwapsBefore(), r.SwapsAfter()} {
		if is {
			n++
		}
	}
	return n
}

// routes returns the possible routes of a request, ordered by the number of swaps, then by the reserve's name.
func routes(r Request, give, take chain.Chain) ([]Route, error) {
	if give.ID == take.ID {
		return nil, ErrSameChain
	}
	for _, forced := range []struct {
		token chain.Address
		on    chain.Chain
	}{{r.GiveReserve, give}, {r.TakeReserve, take}} {
		if !forced.token.IsAbsent() && !slices.Contains(slices.Collect(maps.Values(forced.on.Reserves)), forced.token) {
			return nil, fmt.Errorf("%w %s", ErrIntermediary, forced.on.Name)
		}
	}
	var all []Route
	for _, asset := range slices.Sorted(maps.Keys(give.Reserves)) {
		from, to := give.Reserves[asset], take.Reserves[asset]
		isOther := !r.GiveReserve.IsAbsent() && r.GiveReserve != from || !r.TakeReserve.IsAbsent() && r.TakeReserve != to
		if to.IsAbsent() || isOther {
			continue
		}
		all = append(all, Route{r.TokenIn, r.TokenOut, token.Key{Chain: give.ID, Address: from}, token.Key{Chain: take.ID, Address: to}})
	}
	slices.SortStableFunc(all, func(a, b Route) int { return a.swaps() - b.swaps() })
	if len(all) == 0 {
		return nil, fmt.Errorf("%w: %s and %s have no reserve token in common", ErrImpossibleRoute, give.Name, take.Name)
	}
	return all, nil
}
