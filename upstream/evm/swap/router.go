package swap

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/quote"
	"crossgate/upstream/evm"
)

// Functions of DeBridgeRouter (its verified source, version 3.2.0). Older versions answer supportedRouters with just
// the bool.
var (
	routerSwap = words.SelectorOf(
		"swap(address,uint256,bytes,(address,address,bytes,address,uint256,uint16,bytes,address),uint32)")
	supportedRouters = words.SelectorOf("supportedRouters(address)")
)

// The terms change seldom. If they are older than termsFresh, one caller reloads them while others use the old ones, as
// all do while the chain cannot be reached: the contract that wallets have approved must stay the same.
const (
	termsFresh = 2 * time.Minute
	// absentFor is how long a chain without the router is not asked about it again.
	absentFor = 10 * time.Minute
)

// Router is the public on-chain router of a chain, with its terms cached. Safe for concurrent use.
type Router struct {
	chain   *evm.Chain
	address chain.Address
	now     func() time.Time

	known  atomic.Pointer[routerWord] // nil before the first
	asking atomic.Bool
}

// routerWord is the router's answer at a time: its terms, or that it does not exist.
type routerWord struct {
	quote.RouterTerms
	at       time.Time
	isAbsent bool
}

var _ quote.Router = (*Router)(nil)

// NewRouter returns the public router at the chain's router address.
func NewRouter(c *evm.Chain) *Router {
	return &Router{chain: c, address: c.Facts().Contracts.Router, now: time.Now}
}

// Terms implements quote.Router. It takes one round trip, but usually none.
func (r *Router) Terms(ctx context.Context, venues []chain.Address) (quote.RouterTerms, error) {
	none := fmt.Errorf("chain %d: %w", r.chain.Facts().ID, quote.ErrNoRouter)
	known := r.known.Load()
	if known == nil {
		known = &routerWord{isAbsent: true}
	}
	age := r.now().Sub(known.at)
	if r.address.IsAbsent() || known.isAbsent && age < absentFor {
		return quote.RouterTerms{}, none
	}
	isUsable := !known.isAbsent && !slices.ContainsFunc(venues, func(v chain.Address) bool {
		_, isAsked := known.Calls[v]
		return !isAsked
	})
	if isUsable && (age < termsFresh || !r.asking.CompareAndSwap(false, true)) {
		return known.RouterTerms, nil
	}
	if isUsable {
		defer r.asking.Store(false)
	}
	word, err := r.ask(ctx, slices.AppendSeq(slices.Clone(venues), maps.Keys(known.Calls)))
	switch {
	case err != nil && isUsable, err == nil && word.isAbsent && !known.isAbsent: // contracts stay; a node may lack them
		return known.RouterTerms, nil
	case err != nil:
		return quote.RouterTerms{}, err
	}
	r.known.Store(word)
	if word.isAbsent {
		return quote.RouterTerms{}, none
	}
	return word.RouterTerms, nil
}

// ask reads the router's terms, and which of venues it calls.
func (r *Router) ask(ctx context.Context, venues []chain.Address) (*routerWord, error) {
	calls := []chain.ContractCall{{To: r.address, Data: words.Call("version()")}, {To: r.address, Data: words.Call("swapVariableFeeBps()")}}
	for _, venue := range venues {
		calls = append(calls, chain.ContractCall{To: r.address, Data: supportedRouters.Call(venue)})
	}
	answers, err := r.chain.CallAll(ctx, calls)
	if err != nil {
		return nil, fmt.Errorf("public router: %w", err)
	}
	word := &routerWord{RouterTerms: quote.RouterTerms{Address: r.address, Calls: make(map[chain.Address]bool)}, at: r.now()}
	fee := words.New(answers[1])
	word.FeeBps = int(fee.Uint(0, 16))
	if word.isAbsent = len(answers[0]) < words.Size || fee.Err() != nil || word.FeeBps > 10_000; word.isAbsent {
		return word, nil
	}
	for i, venue := range venues {
		word.Calls[venue] = !words.New(answers[2+i]).Amount(0).IsZero()
	}
	return word, nil
}

// Wrap implements quote.Router.
func (r *Router) Wrap(s quote.RouterSwap) quote.Tx {
	data := routerSwap.Call(s.TokenIn, s.AmountIn, s.Permit, words.Tuple{
		s.Spender, s.VenueRouter, s.VenueData, s.TokenOut, s.MinOut, int(s.SurplusShareBps), s.AffiliateFee, s.Recipient,
	}, uint64(s.ReferralCode))
	tx := quote.Tx{To: r.address, Data: data}
	if s.TokenIn.IsNative() {
		tx.Value = s.AmountIn
	}
	return tx
}
