package config

import (
	"time"

	"crossgate/chain"
)

// Swap sets how swaps are executed.
type Swap struct {
	Execution   Execution   `yaml:"execution" oneof:"router direct best"`
	Unsimulated Unsimulated `yaml:"unsimulated" oneof:"refuse allow"` // of transactions made by a venue for its own router
	Fee         Fee         `yaml:"fee"`                              // default of EVM chains
	// TakerCosts is what orders are charged of a taker's costs, percent.
	TakerCosts int `yaml:"takerCosts" range:"0..1000"`

	// Not keys: venues that have not quoted within Window are left out, and Deadline is that of the whole request,
	// transaction included.
	Window, Deadline time.Duration
}

// Fee is the operator's share of swaps that call a venue directly: a part of the input, paid out by the venue. Venues
// that cannot do so are skipped. Swaps through the public router have none, since that charges a fee of its own.
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

// Fees are the operator's shares of direct swaps, by chain.
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

// Execution is which contract a swap transaction calls.
type Execution string

// The ways of execution.
const (
	ExecuteByRouter Execution = "router" // the protocol's public router, which calls the venue's; direct where it cannot
	ExecuteDirectly Execution = "direct" // the venue's own router
	ExecuteBest     Execution = "best"   // whichever gives the recipient more
)

// Unsimulated is what becomes of a transaction that calls a venue directly, was made by it, and could not be simulated.
type Unsimulated string

// What may become of it.
const (
	RefuseUnsimulated Unsimulated = "refuse" // the next best venue has its turn
	AllowUnsimulated  Unsimulated = "allow"  // it is handed out, and the response says so
)

// Venue is where swaps are made: a service with endpoints, or contracts on the chains, which have none. Names and
// settings are checked when the venues are built; docs/venues.md lists them.
type Venue struct {
	Name      string            `yaml:"name"`      // as docs/venues.md has it
	Endpoints []Endpoint        `yaml:"endpoints"` // that serve its API; none for an exchange, which is read through its chain
	Key       Secret            `yaml:"key"`       // API key, where the venue requires one
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

// Prices are the sources of token prices; of several the median counts. Without any, answers have no USD values.
type Prices struct {
	DefiLlama []Endpoint `yaml:"defillama"` // that serve its API
	Feeds     bool       `yaml:"feeds"`     // also read the price oracles of Aave, on configured chains that have one
}
