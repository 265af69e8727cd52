package config

import (
	"time"

	"crossgate/chain"
)

// Swap sets how swaps are executed.
type Swap struct {
	Execution   Execution   `yaml:"execution" oneof:"router direct best"`
	Unsimulated Unsimulated `yaml:"unsimulated" oneof:"refuse allow"` // of transactions made by a venue for its own router
	Fee         Fee         `yaml:"fee"`                              // default for EVM chains
	// TakerCosts is the percentage of a taker's costs that orders are charged.
	TakerCosts int `yaml:"takerCosts" range:"0..1000"`

	// Not keys: Window is the time that venues have to quote; Deadline bounds the whole request, including the
	// transaction.
	Window, Deadline time.Duration
}

// Fee is the operator's share of swaps that call a venue directly: a part of the input that the venue pays out. Venues
// that cannot are skipped. Swaps through the public router have none, since it charges its own fee.
type Fee struct {
	Bps       int           `yaml:"bps" range:"0..1000; 10 % is the largest share that the API has for an affiliate"` // basis points, up to 1000; 0: none
	Recipient chain.Address `yaml:"recipient"`                                                                        // required with bps, and only then
}

func (f Fee) check(family chain.Family, at place) {
	checkAddress(f.Recipient, family, at.key("recipient"))
	switch {
	case f.Bps != 0 && (f.Recipient.IsAbsent() || f.Recipient.IsNative()):
		at.key("recipient").mistake("required with bps: the address that receives the fee")
	case f.Bps == 0 && !f.Recipient.IsAbsent():
		at.key("bps").mistake("required with recipient: want at least 1")
	}
}

// Fees returns the operator's share of direct swaps by chain.
func (c Config) Fees() map[chain.ID]Fee {
	fees := make(map[chain.ID]Fee)
	for _, each := range c.Registry().All() {
		if each.Family == chain.EVM && c.Swap.Fee.Bps > 0 {
			fees[each.ID] = c.Swap.Fee
		}
	}
	for _, own := range c.Chains {
		if own.Fee != nil {
			fees[own.ID] = *own.Fee
		}
	}
	return fees
}

// Execution selects the contract that a swap transaction calls.
type Execution string

// The values of Execution.
const (
	ExecuteByRouter Execution = "router" // the protocol's public router, which calls the venue's; direct where it cannot
	ExecuteDirectly Execution = "direct" // the venue's own router
	ExecuteBest     Execution = "best"   // whichever gives the recipient more
)

// Unsimulated selects the treatment of a venue's own direct transaction that could not be simulated.
type Unsimulated string

// The values of Unsimulated.
const (
	RefuseUnsimulated Unsimulated = "refuse" // try the next best venue
	AllowUnsimulated  Unsimulated = "allow"  // return it, marked as such
)

// Venue is where swaps are made: a service with endpoints, or contracts on the chains, without any. Names and
// settings are checked when the venues are built; docs/venues.md lists them.
type Venue struct {
	Name      string            `yaml:"name"`      // as in docs/venues.md
	Endpoints []Endpoint        `yaml:"endpoints"` // of its API; none for an exchange, which is read through its chain
	Key       Secret            `yaml:"key"`       // API key, if the venue requires one
	Settings  map[string]string `yaml:"settings"`  // the venue's own, by their names in docs/venues.md
}

func checkVenues(venues []Venue, at place) {
	for i, venue := range venues {
		at.item(i).key("name").mistakeIf(venue.Name == "", "want the name of a venue; docs/venues.md lists them")
		if len(venue.Endpoints) > 0 {
			checkService(venue.Endpoints, at.item(i).key("endpoints"))
		}
	}
	checkUnique(venues, func(v Venue) string { return v.Name }, "venues", func(i int) place { return at.item(i).key("name") })
}

// Prices are the sources of token prices; the median of several counts. Without any, answers have no USD values.
type Prices struct {
	DefiLlama []Endpoint `yaml:"defillama"` // of its API
	Feeds     bool       `yaml:"feeds"`     // also read Aave's price oracles, on configured chains that have one
}
