package config

import (
	"reflect"
	"slices"
	"time"

	"crossgate/chain"
)

// Chain is a chain that the gateway reads. A documented chain needs only its id and endpoints; any other key overrides
// the documented value. For an undocumented chain crossgate check reports the missing keys.
type Chain struct {
	ID        chain.ID   `yaml:"id"`        // the chain's number in the API
	Endpoints []Endpoint `yaml:"endpoints"` // JSON-RPC endpoints
	Fee       *Fee       `yaml:"fee"`       // on direct swaps; default: swap.fee

	Native    uint64        `yaml:"native"`  // EIP-155 chain id
	Genesis   chain.Hash    `yaml:"genesis"` // Solana cluster's genesis block hash
	Name      string        `yaml:"name"`    // for display
	Family    chain.Family  `yaml:"family"`  // determines RPC and address format
	Coin      Coin          `yaml:"coin"`
	BlockTime time.Duration `yaml:"blockTime" range:"0s.."` // typical time between blocks
	Finality  uint64        `yaml:"finality"`               // blocks after which validators trust an event
	// FirstBlock is where a backfill ends: earlier blocks have no orders.
	FirstBlock uint64 `yaml:"firstBlock"`
	// Explorer is the base URL of links to transactions and addresses on pages; none: no links.
	Explorer  string    `yaml:"explorer"`
	Contracts Contracts `yaml:"contracts"`
	// Reserves are the tokens that takers hold, by the value they track, usd or eth: orders lead from one to its equal
	// on another chain. They replace the documented ones.
	Reserves map[string]chain.Address `yaml:"reserves"`
}

// Coin is a chain's native coin.
type Coin struct {
	Symbol   string        `yaml:"symbol"`                // for display, such as ETH
	Decimals uint8         `yaml:"decimals" range:"..77"` // digits after the point
	Wrapped  chain.Address `yaml:"wrapped"`
}

// Contracts are the addresses of the order protocol's contracts and of the contracts that it uses.
type Contracts = chain.Contracts

// Registry returns the documented chains with the file's overrides, and the chains it adds.
func (c Config) Registry() chain.Registry {
	documented := chain.Documented()
	chains := slices.Clone(documented.All())
	for _, own := range c.Chains {
		known, _ := documented.Chain(own.ID)
		chains = append(chains, own.over(known))
	}
	return chain.NewRegistry(chains...)
}

// over returns known with the overrides of c. It drops the documented first block if c overrides the network or the
// order contracts.
func (c Chain) over(known chain.Chain) chain.Chain {
	isOther := c.Native != 0 && c.Native != known.Native || !c.Genesis.IsAbsent() && c.Genesis != known.Genesis
	if isOther || !c.Contracts.DlnSource.IsAbsent() || !c.Contracts.DlnDestination.IsAbsent() {
		known.FirstBlock, known.Since = 0, time.Time{}
	}
	known.Coin = overlaid(known.Coin, chain.Coin{Name: c.Coin.Symbol, Symbol: c.Coin.Symbol, Decimals: c.Coin.Decimals})
	known.Contracts = overlaid(known.Contracts, c.Contracts)
	if c.Explorer == noExplorer {
		c.Explorer, known.Explorer = "", ""
	}
	return overlaid(known, chain.Chain{
		ID: c.ID, Native: c.Native, Genesis: c.Genesis, Name: c.Name, Listed: c.Name, Family: c.Family, WrappedCoin: c.Coin.Wrapped,
		BlockTime: c.BlockTime, Finality: c.Finality, FirstBlock: c.FirstBlock, Explorer: c.Explorer, Reserves: c.Reserves,
	})
}

// overlaid returns known with the nonzero fields of own.
func overlaid[T any](known, own T) T {
	into := reflect.ValueOf(&known).Elem()
	for field, value := range reflect.ValueOf(own).Fields() {
		if !value.IsZero() {
			into.FieldByIndex(field.Index).Set(value)
		}
	}
	return known
}

// noExplorer marks a chain that no explorer covers, such as a private test network.
const noExplorer = "none"

func checkChains(chains []Chain, at place) {
	at.mistakeIf(len(chains) == 0, "want at least one chain")
	documented := chain.Documented()
	for i, each := range chains {
		known, isDocumented := documented.Chain(each.ID)
		each.check(known, isDocumented, at.item(i))
	}
	checkUnique(chains, func(c Chain) chain.ID { return c.ID }, "chains", func(i int) place { return at.item(i).key("id") })
}

// check reports the mistakes of c, which overrides known. For an undocumented chain known is zero.
func (c Chain) check(known chain.Chain, isDocumented bool, at place) {
	checkEndpoints(c.Endpoints, at.key("endpoints"))
	if c.ID == 0 {
		at.key("id").mistake("want the chain id that the API uses")
		return
	}
	if isDocumented && c.Family != chain.UnknownFamily && c.Family != known.Family {
		at.key("family").mistake("this chain is of family %s", known.Family)
		return
	}
	whole := c.over(known)
	if whole.Family != chain.EVM {
		refuseWebSockets(c.Endpoints, at.key("endpoints"))
	}
	checkAddress(c.Coin.Wrapped, whole.Family, at.key("coin").key("wrapped"))
	for asset, token := range c.Reserves {
		checkAddress(token, whole.Family, at.key("reserves").key(asset))
	}
	for field, value := range reflect.ValueOf(c.Contracts).Fields() {
		checkAddress(value.Interface().(chain.Address), whole.Family, at.key("contracts").key(field.Tag.Get("yaml")))
	}
	if c.Fee != nil {
		c.Fee.check(whole.Family, at.key("fee"))
	}
	at.key("explorer").mistakeIf(c.Explorer != "" && c.Explorer != noExplorer && !isWebAddress(c.Explorer),
		"want a URL, or none")
	if !isDocumented {
		checkAdded(whole, at)
	}
}

// checkAdded reports missing facts of an undocumented chain.
func checkAdded(c chain.Chain, at place) {
	for _, known := range chain.Documented().All() {
		if c.Family == chain.UnknownFamily && known.Native == uint64(c.ID) {
			at.key("id").mistake("this is the EIP-155 id of %s: want %d, its id in the API", known.Name, known.ID)
			return
		}
	}
	for key, absent := range map[string]bool{
		"name":                     c.Name == "",
		"family":                   c.Family == chain.UnknownFamily,
		"native":                   c.Family == chain.EVM && c.Native == 0,
		"genesis":                  c.Family == chain.SVM && c.Genesis.IsAbsent(),
		"blockTime":                c.BlockTime == 0,
		"finality":                 c.Family != chain.SVM && c.Finality == 0,
		"coin.symbol":              c.Coin.Symbol == "",
		"coin.decimals":            c.Coin.Decimals == 0,
		"contracts.dlnSource":      c.Contracts.DlnSource == chain.Address{},
		"contracts.dlnDestination": c.Contracts.DlnDestination == chain.Address{},
	} {
		at.key(key).mistakeIf(absent, "required: chain %d is not documented", c.ID)
	}
}

// checkAddress requires an address of the family's length; an absent address is valid.
func checkAddress(address chain.Address, family chain.Family, at place) {
	at.mistakeIf(!address.IsAbsent() && !address.Fits(family) && family != chain.UnknownFamily, "not an address of family %s", family)
}
