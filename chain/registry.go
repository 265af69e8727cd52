package chain

import (
	"bytes"
	"cmp"
	_ "embed"
	"maps"
	"slices"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"
)

// Chain holds the facts about one chain that are the same for everyone: names, numbers, contracts.
type Chain struct {
	ID          ID            `yaml:"id"`
	Native      uint64        `yaml:"native"`  // EIP-155 chain ID; zero on Solana
	Genesis     Hash          `yaml:"genesis"` // hash of the first block, which identifies a cluster of Solana; absent elsewhere
	Name        string        `yaml:"name"`
	Listed      string        `yaml:"listed"`  // its name in the hosted service's lists
	Retired     bool          `yaml:"retired"` // by the hosted service: takes part in no new orders; old ones remain
	Family      Family        `yaml:"family"`
	Coin        Coin          `yaml:"coin"`
	WrappedCoin Address       `yaml:"wrappedCoin"`
	BlockTime   time.Duration `yaml:"blockTime"`  // typical
	Finality    uint64        `yaml:"finality"`   // blocks after which the protocol's validators trust an event
	FirstBlock  uint64        `yaml:"firstBlock"` // no earlier block has an order; 0: unknown
	Since       time.Time     `yaml:"since"`      // no order is older; zero: unknown
	Contracts   Contracts     `yaml:"contracts"`
	// Reserves are the tokens that takers hold, by kind of value, such as usd: those of a kind go over one for one.
	Reserves map[string]Address `yaml:"reserves"`
	Explorer string             `yaml:"explorer"` // base URL of a block explorer for people; empty if unknown
}

// HeadLife returns the age of the newest block from which the chain or its endpoint counts as stopped; zero: unknown.
func (c Chain) HeadLife() time.Duration {
	const blocks, least = 20, time.Minute
	if c.BlockTime <= 0 {
		return 0
	}
	return max(blocks*c.BlockTime, least)
}

// Coin is a chain's native coin.
type Coin struct {
	Name     string `yaml:"name"`
	Symbol   string `yaml:"symbol"`
	Decimals uint8  `yaml:"decimals"`
}

// Contracts are the addresses of the order protocol on one chain. Absent ones are unknown or not deployed.
type Contracts struct {
	DlnSource           Address `yaml:"dlnSource"`
	DlnDestination      Address `yaml:"dlnDestination"`
	Gate                Address `yaml:"gate"` // carries messages between the chains
	ExternalCallAdapter Address `yaml:"externalCallAdapter"`
	Router              Address `yaml:"router"`    // swaps before an order's creation, and same-chain swaps
	Multicall           Address `yaml:"multicall"` // Multicall3
}

// Registry is a set of chains by ID.
type Registry struct {
	byID    map[ID]Chain
	ordered []Chain // by ascending ID
}

//go:embed chains.yaml
var documented []byte

// Documented returns the chains of the order protocol, as listed with their sources in chains.yaml.
func Documented() Registry { return parseDocumented() }

var parseDocumented = sync.OnceValue(func() Registry {
	registry, err := parseRegistry(documented)
	if err != nil {
		panic("chain: embedded chains.yaml: " + err.Error())
	}
	return registry
})

// parseRegistry parses chains from YAML in the form of the embedded chains.yaml.
func parseRegistry(text []byte) (Registry, error) {
	var file struct {
		Chains []Chain `yaml:"chains"`
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&file); err != nil {
		return Registry{}, err
	}
	for i, c := range file.Chains {
		file.Chains[i].Listed = cmp.Or(c.Listed, c.Name)
	}
	return NewRegistry(file.Chains...), nil
}

// UnmarshalYAML parses a hash in Solana's notation.
func (h *Hash) UnmarshalYAML(node *yaml.Node) (err error) {
	*h, err = ParseSolanaHash(node.Value)
	return err
}

// UnmarshalYAML parses an address of any family.
func (a *Address) UnmarshalYAML(node *yaml.Node) (err error) {
	*a, _, err = ParseAnyAddress(node.Value)
	return err
}

// NewRegistry returns a registry of chains; of two with the same ID the later one counts.
func NewRegistry(chains ...Chain) Registry {
	r := Registry{byID: make(map[ID]Chain, len(chains))}
	for _, c := range chains {
		r.byID[c.ID] = c
	}
	r.ordered = slices.SortedFunc(maps.Values(r.byID), func(a, b Chain) int { return cmp.Compare(a.ID, b.ID) })
	return r
}

// Chain returns the chain with an ID.
func (r Registry) Chain(id ID) (c Chain, known bool) {
	c, known = r.byID[id]
	return c, known
}

// Family returns the family of the chain with an ID, UnknownFamily if the chain is unknown.
func (r Registry) Family(id ID) Family { return r.byID[id].Family }

// All returns the chains by ascending ID. The caller must not change the slice.
func (r Registry) All() []Chain { return r.ordered }
