// Package venue contains the adapters of swap venues: the HTTP APIs of aggregators, and the contracts of exchanges.
// Each implements quote.Venue: a quote for a swap, and the transaction for a quote.
//
// An aggregator is one file with a service, which registers itself: where its API and its contracts are, what to ask
// (template.go), where its answers have their parts and how they refuse (answer.go), and what its contracts enforce
// (calldata.go). The steps are the same for all (service.go). Numbers, addresses and calldata are checked in one place
// (swap.go): an answer about another amount, with another router or with a looser minimum than requested is a bad
// answer, and the next endpoint is asked. A venue's refusal of the pair or the amount is an answer: quote.ErrNoRoute.
//
// An exchange is an entry of exchanges.json for each chain. It is asked by calls of its contracts (exchange.go), in the
// dialect of Uniswap V2, Solidly (pairs.go) or Uniswap V3 (fees.go), once these have proved to be its own.
//
// [New] creates a venue from its configuration. Venues keep no state except such proofs, and are safe for concurrent
// use.
package venue

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"crossgate/chain"
	"crossgate/internal/didyoumean"
	"crossgate/quote"
	"crossgate/upstream"
)

// ErrPriceMoved means that a venue, asked to build the transaction, no longer offers what it quoted.
var ErrPriceMoved = errors.New("price moved since the quote")

// Options configures one venue.
type Options struct {
	Pool     *upstream.Pool    // the endpoints of the venue's API
	Registry chain.Registry    // a venue serves those of its own chains that are known here
	Key      string            // of the venue's API; empty if it is used without one
	Settings map[string]string // the venue's own; an unknown name is an error
	// Contracts calls contracts on a chain's newest block in one round trip; a failed or absent one answers nothing.
	Contracts func(ctx context.Context, id chain.ID, calls []chain.ContractCall) ([][]byte, error)
	Now       func() time.Time // the wall clock by default
	// Newest returns the time of the newest block seen of a chain; zero if there is none. nil: unknown for all chains.
	Newest func(chain.ID) time.Time
}

// deadline returns the deadline of a transaction built now. Contracts go by their chain's time, which may be ahead.
func (o Options) deadline(id chain.ID) time.Time {
	now := o.Now()
	if o.Newest != nil {
		if newest := o.Newest(id); newest.After(now) {
			now = newest
		}
	}
	return now.Add(signTime)
}

// Service locates a venue's public API. Exchanges have none.
type Service struct {
	Name    string
	URL     string   // empty without a service
	Keyed   bool     // it requires a key
	Keyless bool     // it has no keys
	Source  string   // of the addresses of its contracts; exchanges have theirs in exchanges.json
	Accepts []string // names of its settings
}

type registration struct {
	service Service
	open    func(Options) (quote.Venue, error)
}

var registered = map[string]registration{}

// excludedSources is a setting of most aggregators: the exchanges not to use, comma-separated, in the API's names.
const excludedSources = "excludedSources"

// register makes a service available under its name.
func register(v service) *service {
	add(v.Service, v.open)
	return &v
}

// add makes a venue available under its service's name.
func add(s Service, open func(Options) (quote.Venue, error)) {
	if _, taken := registered[s.Name]; taken {
		panic("venue: " + s.Name + " is registered twice")
	}
	registered[s.Name] = registration{s, open}
}

// Names lists the venues in alphabetical order.
func Names() []string { return slices.Sorted(maps.Keys(registered)) }

// Documented returns the public service of every venue, in the order of Names.
func Documented() []Service {
	services := make([]Service, 0, len(registered))
	for _, name := range Names() {
		services = append(services, registered[name].service)
	}
	return services
}

// New returns the venue with name, configured by o. It makes no request yet.
func New(name string, o Options) (quote.Venue, error) {
	found, known := registered[name]
	if !known {
		return nil, fmt.Errorf("%q is not a venue%s (%s)", name, didyoumean.Suggest(name, Names()), strings.Join(Names(), ", "))
	}
	if found.service.URL != "" && o.Pool == nil {
		return nil, fmt.Errorf("venue %s has no endpoint", name)
	}
	if found.service.URL == "" && (o.Pool != nil || o.Key != "") {
		return nil, fmt.Errorf("venue %s is read from the chains: it takes no endpoints and no key", name)
	}
	if found.service.Keyed && o.Key == "" {
		return nil, fmt.Errorf("venue %s requires a key", name)
	}
	if found.service.Keyless && o.Key != "" {
		return nil, fmt.Errorf("venue %s takes no key", name)
	}
	o.Settings = maps.Clone(o.Settings)
	for _, setting := range slices.Sorted(maps.Keys(o.Settings)) {
		if known := found.service.Accepts; !slices.Contains(known, setting) {
			return nil, fmt.Errorf("venue %s: unknown setting %q%s (%s)", name, setting, didyoumean.Suggest(setting, known), strings.Join(known, ", "))
		}
		o.Settings[setting] = strings.ReplaceAll(o.Settings[setting], ", ", ",") // as APIs take lists
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	v, err := found.open(o)
	if err != nil {
		return nil, fmt.Errorf("venue %s: %w", name, err)
	}
	return v, nil
}

// contract reads an address that stands in our own source.
func contract(text string) chain.Address {
	address, err := chain.ParseAddress(text, chain.EVM)
	if err != nil {
		panic("venue: " + err.Error())
	}
	return address
}
