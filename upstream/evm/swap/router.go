package swap

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"sync/atomic"
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

// The terms change seldom. Those older than termsFresh are asked for anew by one caller, while others go by the old
// ones, as all do while the chain cannot be reached: the contract that wallets have approved must stay the same.
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

	known  atomic.Pointer[routerWord] // nil before the first
	asking atomic.Bool
}

// routerWord is what the router said at a time: its terms, or that it does not exist.
type routerWord struct {
	quote.RouterTerms
	at       time.Time
	isAbsent bool
}

// covers reports whether the router was asked about all of venues.
func (w *routerWord) covers(venues []chain.Address) bool {
	return !slices.ContainsFunc(venues, func(v chain.Address) bool {
		_, isAsked := w.Calls[v]
		return !isAsked
	})
}

var _ quote.Router = (*Router)(nil)

// NewRouter returns the public router at the chain's router address.
func NewRouter(c *evm.Chain) *Router {
	return &Router{chain: c, address: c.Facts().Contracts.Router, now: time.Now}
}

// Terms implements quote.Router. It takes one round trip, and mostly none.
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
	isUsable := !known.isAbsent && known.covers(venues)
	if isUsable && (age < termsFresh || !r.asking.CompareAndSwap(false, true)) {
		return known.RouterTerms, nil
	}
	if isUsable {
		defer r.asking.Store(false)
	}
	word, err := r.ask(ctx, slices.AppendSeq(slices.Clone(venues), maps.Keys(known.Calls)))
	switch {
	case err != nil && isUsable:
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
	calls := [][]byte{routerABI.Methods["version"].ID, routerABI.Methods["swapVariableFeeBps"].ID}
	for _, venue := range venues {
		data, err := routerABI.Pack("supportedRouters", evm.NodeAddress(venue))
		if err != nil {
			return nil, fmt.Errorf("encode supportedRouters: %w", err)
		}
		calls = append(calls, data)
	}
	answers, err := r.chain.CallAll(ctx, slices.Repeat([]chain.Address{r.address}, len(calls)), calls)
	if err != nil {
		return nil, fmt.Errorf("public router: %w", err)
	}
	word := &routerWord{RouterTerms: quote.RouterTerms{Address: r.address, Calls: make(map[chain.Address]bool)}, at: r.now()}
	_, hasVersion := evm.Word(answers[0], 0)
	fee, hasFee := evm.Word(answers[1], 0)
	if word.isAbsent = !hasVersion || !hasFee || !fee.IsInt64() || fee.Int64() > 10_000; word.isAbsent {
		return word, nil
	}
	word.FeeBps = int(fee.Int64())
	for i, venue := range venues {
		supported, isAnswered := evm.Word(answers[2+i], 0)
		word.Calls[venue] = isAnswered && supported.Sign() != 0
	}
	return word, nil
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
