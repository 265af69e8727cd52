package swap

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"crossgate/chain"
	"crossgate/quote"
	"crossgate/upstream/evm"
)

// routerABI is the part of DeBridgeRouter that same-chain swaps use (its verified source, version 3.2.0).
// Older versions answer supportedRouters with the bool alone.
var routerABI = evm.ParseABI(`[
	{"type":"function","name":"swap","stateMutability":"payable","inputs":[
		{"name":"tokenIn","type":"address"},
		{"name":"amountIn","type":"uint256"},
		{"name":"tokenInPermitEnvelope","type":"bytes"},
		{"name":"swapDetails","type":"tuple","components":[
			{"name":"allowanceAggregator","type":"address"},
			{"name":"swapRouter","type":"address"},
			{"name":"swapCalldata","type":"bytes"},
			{"name":"tokenOut","type":"address"},
			{"name":"tokenOutMinAmount","type":"uint256"},
			{"name":"surplusShareBps","type":"uint16"},
			{"name":"affiliateFeeEnvelope","type":"bytes"},
			{"name":"recipient","type":"address"}]},
		{"name":"referralCode","type":"uint32"}],
	 "outputs":[{"name":"","type":"uint256"}]},
	{"type":"function","name":"supportedRouters","stateMutability":"view",
	 "inputs":[{"name":"","type":"address"}],"outputs":[{"name":"isSupported","type":"bool"},{"name":"allowanceAggregator","type":"address"}]},
	{"type":"function","name":"swapVariableFeeBps","stateMutability":"view","inputs":[],"outputs":[{"name":"","type":"uint16"}]},
	{"type":"function","name":"version","stateMutability":"view","inputs":[],"outputs":[{"name":"","type":"uint256"}]}]`)

// How long the router's word counts. Its owners change it seldom: a word older than termsFresh is asked for
// anew by the first who needs it, while others go by the old one, as all do for as long as the chain cannot be
// reached: the contract that wallets have approved must not change with the weather.
const (
	termsFresh = 2 * time.Minute
	// absentFor is how long a chain without the router is not asked for it.
	absentFor = 10 * time.Minute
)

// Router is the public on-chain router of a chain, whose terms it remembers. Safe for concurrent use.
type Router struct {
	chain   *evm.Chain
	address chain.Address
	now     func() time.Time

	mu     sync.Mutex
	feeBps int
	calls  map[chain.Address]bool // venues' routers that were asked about
	asked  time.Time              // when the above was said; zero: never
	absent time.Time              // when no router was found
	asking bool
}

var _ quote.Router = (*Router)(nil)

// NewRouter returns the public router that stands, as far as documents say, at the chain's router address.
func NewRouter(c *evm.Chain) *Router {
	return &Router{chain: c, address: c.Facts().Contracts.Router, now: time.Now, calls: map[chain.Address]bool{}}
}

// Terms implements quote.Router. It takes one round trip, and mostly none.
func (r *Router) Terms(ctx context.Context, venues []chain.Address) (quote.RouterTerms, error) {
	terms, ask, err := r.remembered(venues)
	if err != nil || !ask {
		return terms, err
	}
	err = r.ask(ctx, venues)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asking = false
	if err != nil && (errors.Is(err, quote.ErrNoRouter) || !r.saidLocked(venues)) {
		return quote.RouterTerms{}, err
	}
	return r.termsLocked(), nil
}

// remembered returns the known venues, and whether the caller has to ask again.
func (r *Router) remembered(venues []chain.Address) (terms quote.RouterTerms, ask bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.address.IsAbsent() || !r.absent.IsZero() && r.now().Sub(r.absent) < absentFor {
		return quote.RouterTerms{}, false, fmt.Errorf("chain %d: %w", r.chain.Facts().ID, quote.ErrNoRouter)
	}
	if r.isFreshLocked(venues) || r.asking && r.saidLocked(venues) {
		return r.termsLocked(), false, nil
	}
	r.asking = true
	return quote.RouterTerms{}, true, nil
}

// isFreshLocked reports whether everything about the venues was said lately.
func (r *Router) isFreshLocked(venues []chain.Address) bool {
	return r.now().Sub(r.asked) < termsFresh && r.saidLocked(venues)
}

// saidLocked reports whether everything about the venues was said at some time.
func (r *Router) saidLocked(venues []chain.Address) bool {
	if r.asked.IsZero() {
		return false
	}
	for _, venue := range venues {
		if _, known := r.calls[venue]; !known {
			return false
		}
	}
	return true
}

func (r *Router) termsLocked() quote.RouterTerms {
	terms := quote.RouterTerms{Address: r.address, FeeBps: r.feeBps, Calls: make(map[chain.Address]bool, len(r.calls))}
	for venue, called := range r.calls {
		terms.Calls[venue] = called
	}
	return terms
}

// ask reads the router's terms and remembers them: about the venues, and about those it was asked before.
func (r *Router) ask(ctx context.Context, venues []chain.Address) error {
	about := r.everAskedAbout(venues)
	calls := [][]byte{routerABI.Methods["version"].ID, routerABI.Methods["swapVariableFeeBps"].ID}
	for _, venue := range about {
		data, err := routerABI.Pack("supportedRouters", evm.NodeAddress(venue))
		if err != nil {
			return fmt.Errorf("encode supportedRouters: %w", err)
		}
		calls = append(calls, data)
	}
	answers, err := r.chain.CallAll(ctx, slices.Repeat([]chain.Address{r.address}, len(calls)), calls)
	if err != nil {
		return fmt.Errorf("public router: %w", err)
	}
	_, hasVersion := evm.Word(answers[0], 0)
	fee, hasFee := evm.Word(answers[1], 0)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !hasVersion || !hasFee || !fee.IsInt64() || fee.Int64() > 10_000 {
		r.absent, r.asked = r.now(), time.Time{}
		return fmt.Errorf("chain %d: %w", r.chain.Facts().ID, quote.ErrNoRouter)
	}
	r.feeBps, r.asked, r.absent = int(fee.Int64()), r.now(), time.Time{}
	for i, venue := range about {
		supported, answered := evm.Word(answers[2+i], 0)
		r.calls[venue] = answered && supported.Sign() != 0
	}
	return nil
}

func (r *Router) everAskedAbout(venues []chain.Address) []chain.Address {
	r.mu.Lock()
	defer r.mu.Unlock()
	var about []chain.Address
	for venue := range r.calls {
		about = append(about, venue)
	}
	for _, venue := range venues {
		if _, known := r.calls[venue]; !known {
			about = append(about, venue)
		}
	}
	return about
}

// routerDetails is the tuple of the swap function.
type routerDetails struct {
	AllowanceAggregator  common.Address
	SwapRouter           common.Address
	SwapCalldata         []byte
	TokenOut             common.Address
	TokenOutMinAmount    *big.Int
	SurplusShareBps      uint16
	AffiliateFeeEnvelope []byte
	Recipient            common.Address
}

// Wrap implements quote.Router.
func (r *Router) Wrap(s quote.RouterSwap) (quote.Tx, error) {
	if r.address.IsAbsent() {
		return quote.Tx{}, errors.New("public router without an address")
	}
	data, err := routerABI.Pack("swap", evm.NodeAddress(s.TokenIn), s.AmountIn.Big(), s.Permit, routerDetails{
		AllowanceAggregator: evm.NodeAddress(s.Spender), SwapRouter: evm.NodeAddress(s.VenueRouter), SwapCalldata: s.VenueData,
		TokenOut: evm.NodeAddress(s.TokenOut), TokenOutMinAmount: s.MinOut.Big(), SurplusShareBps: s.SurplusShareBps,
		AffiliateFeeEnvelope: s.AffiliateFee, Recipient: evm.NodeAddress(s.Recipient),
	}, s.ReferralCode)
	if err != nil {
		return quote.Tx{}, fmt.Errorf("encode the public router's swap: %w", err)
	}
	tx := quote.Tx{To: r.address, Data: data}
	if s.TokenIn.IsNative() {
		tx.Value = s.AmountIn
	}
	return tx, nil
}
