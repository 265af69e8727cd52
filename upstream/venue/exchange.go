package venue

// Exchanges are asked on their own chain, by reading their contracts, without a service in between.

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/quote"
)

// listing holds the addresses of an exchange's contracts on one chain.
type listing struct {
	Venue   string        `json:"venue"`
	Chain   chain.ID      `json:"chain"`
	Kind    string        `json:"kind"` // pairs, fees or routes: whose interface the contracts have
	Router  chain.Address `json:"router"`
	Factory chain.Address `json:"factory"`
	Quoter  chain.Address `json:"quoter"` // of kind fees
	Fees    []uint32      `json:"fees"`   // of kind fees: hundredths of a basis point
	Source  string        `json:"source"` // of the addresses
}

// directory lists the known exchanges and, for each chain, the tokens through which most pairs have a path.
type directory struct {
	Hubs      map[chain.ID][]chain.Address `json:"hubs"`
	Exchanges []listing                    `json:"exchanges"`
}

var listings = readListings()

func readListings() (d directory) {
	if err := json.Unmarshal(exchangesText, &d); err != nil {
		panic("venue: exchanges.json: " + err.Error())
	}
	return d
}

//go:embed exchanges.json
var exchangesText []byte

// dialect is the ABI of a kind of exchange: how its contracts are queried and called.
type dialect struct {
	// paths returns the paths from stop to stop, through one pool each.
	paths func(at listing, stops []chain.Address) []path
	// ask returns the call that prices a path, and read decodes its answer.
	ask  func(at listing, p path, amount chain.Amount) chain.ContractCall
	read func(answer []byte) (priced, error)
	// call returns the calldata of a swap. The exchange needs no more of a swap than swapCall has.
	call func(at listing, p path, s swapCall) []byte
	// enforced decodes such a call.
	enforced func(c chain.Chain, tx quote.Tx) (quote.Call, error)
	// identity returns calls that only the contracts of at answer as wanted.
	identity func(at listing, wrapped chain.Address) []identityCheck
}

var dialects = map[string]dialect{
	"pairs":  v2Calls.dialect("factory()", "WETH()", v2Paths, func(_ listing, p path) any { return p.stops }),
	"routes": solidlyCalls.dialect("defaultFactory()", "weth()", solidlyPaths, func(at listing, p path) any { return p.routes(at) }),
	"fees":   v3Dialect,
}

// path is a list of tokens with a pool between each two.
type path struct {
	stops  []chain.Address
	fees   []uint32 // of kind fees
	stable []bool   // of kind routes
}

// identityCheck is a call and the address that it must return.
type identityCheck struct {
	chain.ContractCall
	want chain.Address
}

// priced is a path's output and its gas.
type priced struct {
	out chain.Amount
	gas uint64
}

// swapCall holds what the contracts need to know of a swap.
type swapCall struct {
	amount, least    chain.Amount
	recipient        chain.Address
	deadline         time.Time
	fromCoin, toCoin bool
}

// exchange is a venue that consists of contracts. It pays no affiliate share: its routers have no argument for one.
type exchange struct {
	Options
	profile  quote.Profile
	at       map[chain.ID]listing
	verified sync.Map // chains whose contracts were proved to be the exchange's
}

var _ quote.Venue = (*exchange)(nil)

func init() {
	for _, at := range listings.Exchanges {
		if _, again := registered[at.Venue]; !again {
			add(Service{Name: at.Venue}, openExchange(at.Venue))
		}
	}
}

func openExchange(name string) func(Options) (quote.Venue, error) {
	return func(o Options) (quote.Venue, error) {
		if o.Contracts == nil {
			return nil, errors.New("has no chain to read")
		}
		brand, _, _ := strings.Cut(name, "-v") // whose picture in DefiLlama's collection its versions share
		e := &exchange{
			Options: o, at: map[chain.ID]listing{},
			profile: quote.Profile{
				Name: name, ImageURL: "https://icons.llamao.fi/icons/protocols/" + brand, Routers: map[chain.ID]chain.Address{}, Writes: true,
			},
		}
		e.profile.Read = func(c chain.Chain, tx quote.Tx) (quote.Call, error) { return dialects[e.at[c.ID].Kind].enforced(c, tx) }
		for _, at := range listings.Exchanges {
			if c, known := o.Registry.Chain(at.Chain); at.Venue == name && known && !c.WrappedCoin.IsAbsent() {
				e.at[at.Chain] = at
				e.profile.Routers[at.Chain] = at.Router
			}
		}
		return e, nil
	}
}

// Profile implements quote.Venue.
func (e *exchange) Profile() quote.Profile { return e.profile }

// Quote implements quote.Venue. The first one on a chain checks the contracts' identity in the same round trip.
func (e *exchange) Quote(ctx context.Context, s quote.Swap) (quote.Quote, error) {
	if err := e.profile.Suits(s); err != nil {
		return quote.Quote{}, err
	}
	at := e.at[s.Chain.ID]
	d := dialects[at.Kind]
	paths := pathsBetween(s, at, d)
	if len(paths) == 0 {
		return quote.Quote{}, noSwapRoute("both ends are the same token")
	}
	var checks []identityCheck
	if _, known := e.verified.Load(s.Chain.ID); !known {
		checks = d.identity(at, s.Chain.WrappedCoin)
	}
	asked := e.Now()
	calls := make([]chain.ContractCall, 0, len(checks)+len(paths))
	for _, c := range checks {
		calls = append(calls, c.ContractCall)
	}
	for _, p := range paths {
		calls = append(calls, d.ask(at, p, s.In.Amount))
	}
	answers, err := e.Contracts(ctx, s.Chain.ID, calls)
	if err == nil && len(answers) != len(calls) {
		err = fmt.Errorf("%d answers to %d calls", len(answers), len(calls))
	}
	if err != nil {
		return quote.Quote{}, fmt.Errorf("%s contracts on chain %d: %w", e.profile.Name, s.Chain.ID, err)
	}
	if err := e.verify(s.Chain.ID, checks, answers); err != nil {
		return quote.Quote{}, fmt.Errorf("%s on chain %d: %w", e.profile.Name, s.Chain.ID, err)
	}
	best, price := bestPath(paths, answers[len(checks):], d)
	if price.out.IsZero() {
		return quote.Quote{}, fmt.Errorf("%s on chain %d: %w", e.profile.Name, s.Chain.ID, noSwapRoute("no pools"))
	}
	return quote.Quote{
		Venue: e.profile.Name, AmountOut: price.out, Gas: price.gas, Expires: asked.Add(quoteLife), Route: best,
	}, nil
}

// Build implements quote.Venue. It makes no request: the calldata holds the minimum.
func (e *exchange) Build(_ context.Context, s quote.Swap, q quote.Quote) (quote.Tx, error) {
	route, ours := q.Route.(path)
	if !ours || q.Venue != e.profile.Name {
		return quote.Tx{}, fmt.Errorf("%s: build of another venue's quote", e.profile.Name)
	}
	at := e.at[s.Chain.ID]
	data := dialects[at.Kind].call(at, route, swapCall{
		amount: s.In.Amount, least: leastOf(q.AmountOut, s), recipient: s.Recipient,
		deadline: e.deadline(s.Chain.ID), fromCoin: s.In.Address.IsNative(), toCoin: s.Out.Address.IsNative(),
	})
	return quote.Tx{To: e.profile.Routers[s.Chain.ID], Data: data, Value: coinValue(s)}, nil
}

// pathsBetween returns the paths of a swap, direct and over one of the chain's hubs.
func pathsBetween(s quote.Swap, at listing, d dialect) []path {
	pooled := func(a chain.Address) chain.Address {
		if a.IsNative() {
			return s.Chain.WrappedCoin
		}
		return a
	}
	from, to := pooled(s.In.Address), pooled(s.Out.Address)
	if from == to {
		return nil
	}
	paths := d.paths(at, []chain.Address{from, to})
	for _, hub := range append([]chain.Address{s.Chain.WrappedCoin}, listings.Hubs[at.Chain]...) {
		if hub != from && hub != to {
			paths = append(paths, d.paths(at, []chain.Address{from, hub, to})...)
		}
	}
	return paths
}

func bestPath(paths []path, answers [][]byte, d dialect) (best path, price priced) {
	for i, answer := range answers {
		if len(answer) == 0 {
			continue
		}
		if p, err := d.read(answer); err == nil && p.out.Cmp(price.out) > 0 {
			best, price = paths[i], p
		}
	}
	return best, price
}

// ErrUnverifiedContracts means that the contracts on a chain are not the exchange's: it does not serve the chain.
var ErrUnverifiedContracts = fmt.Errorf("%w: the contracts are not the exchange's", quote.ErrUnsupportedChain)

// verify compares the first answers with the checks and remembers success. After a failure the next quote checks again.
func (e *exchange) verify(id chain.ID, checks []identityCheck, answers [][]byte) error {
	for i, c := range checks {
		if !bytes.Equal(answers[i], words.Encode(c.want)) {
			return ErrUnverifiedContracts
		}
	}
	e.verified.Store(id, true)
	return nil
}
