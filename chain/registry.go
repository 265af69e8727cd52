package chain

import (
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"
)

// Chain is one chain with everything that does not depend on who asks: names, numbers, contracts.
type Chain struct {
	ID          ID
	Native      uint64 // EIP-155 chain id; zero on Solana
	Genesis     Hash   // hash of the first block, which identifies a cluster of Solana; absent elsewhere
	Name        string
	Listed      string // its name in the hosted service's lists
	Retired     bool   // takes part in no new orders, by the hosted service; old ones remain
	Family      Family
	Coin        Coin
	WrappedCoin Address
	BlockTime   time.Duration // typical
	Finality    uint64        // blocks after which the protocol's validators trust an event
	FirstBlock  uint64        // no order is in an earlier one; 0: not known
	Since       uint64        // UNIX time; no order is older; 0: not known
	Contracts   Contracts
	Explorer    string // base URL of a block explorer for people; empty when unknown
}

// HeadLife is how old the chain's newest block may be: where it is older, the chain or its endpoint has stopped. Zero
// where the time between blocks is not known.
func (c Chain) HeadLife() time.Duration {
	const blocks, least = 20, time.Minute
	if c.BlockTime <= 0 {
		return 0
	}
	return max(blocks*c.BlockTime, least)
}

// Coin is a chain's native coin.
type Coin struct {
	Name     string
	Symbol   string
	Decimals uint8
}

// Contracts are the addresses of the order protocol and its surroundings on one chain. Absent ones are
// not known or not deployed.
type Contracts struct {
	DlnSource           Address
	DlnDestination      Address
	Gate                Address // carries messages between the chains
	ExternalCallAdapter Address
	Router              Address // swaps before an order's creation, and same-chain swaps
	Multicall           Address // Multicall3
}

// Registry is a set of chains by id.
type Registry struct {
	byID    map[ID]Chain
	ordered []Chain // ascending ids
}

//go:embed chains.yaml
var documented []byte

// Documented returns the chains on which the order protocol is known to live. Sources of every value stand in
// chains.yaml.
func Documented() Registry { return parseDocumented() }

var parseDocumented = sync.OnceValue(func() Registry {
	registry, err := parseRegistry(documented)
	if err != nil {
		panic("chain: embedded chains.yaml: " + err.Error())
	}
	return registry
})

// parseRegistry reads chains from YAML in the form of the embedded chains.yaml.
func parseRegistry(text []byte) (Registry, error) {
	var file struct {
		Chains []stanza `yaml:"chains"`
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&file); err != nil {
		return Registry{}, err
	}
	chains := make([]Chain, 0, len(file.Chains))
	var mistakes []error
	for _, s := range file.Chains {
		c, err := s.chain()
		if err != nil {
			mistakes = append(mistakes, fmt.Errorf("chain %d: %w", s.ID, err))
		}
		chains = append(chains, c)
	}
	if err := errors.Join(mistakes...); err != nil {
		return Registry{}, err
	}
	return NewRegistry(chains...), nil
}

// NewRegistry holds chains; of two with the same id the later one counts.
func NewRegistry(chains ...Chain) Registry {
	r := Registry{byID: make(map[ID]Chain, len(chains))}
	for _, c := range chains {
		r.byID[c.ID] = c
	}
	for _, c := range r.byID {
		r.ordered = append(r.ordered, c)
	}
	slices.SortFunc(r.ordered, func(a, b Chain) int { return int(a.ID) - int(b.ID) })
	return r
}

// Chain returns the chain with id.
func (r Registry) Chain(id ID) (c Chain, known bool) {
	c, known = r.byID[id]
	return c, known
}

// Family returns the family of the chain with id, UnknownFamily when the chain is unknown.
func (r Registry) Family(id ID) Family { return r.byID[id].Family }

// All returns the chains by ascending id. The caller must not change the slice.
func (r Registry) All() []Chain { return r.ordered }

// stanza is a chain as chains.yaml writes it.
type stanza struct {
	ID        ID            `yaml:"id"`
	Native    uint64        `yaml:"native"`
	Genesis   string        `yaml:"genesis"`
	Name      string        `yaml:"name"`
	Listed    string        `yaml:"listed"`
	Retired   bool          `yaml:"retired"`
	Family    string        `yaml:"family"`
	Coin      coinStanza    `yaml:"coin"`
	BlockTime time.Duration `yaml:"blockTime"`
	Finality  uint64        `yaml:"finality"`
	First     uint64        `yaml:"firstBlock"`
	Since     time.Time     `yaml:"since"`
	Explorer  string        `yaml:"explorer"`
	Contracts struct {
		DlnSource           string `yaml:"dlnSource"`
		DlnDestination      string `yaml:"dlnDestination"`
		Gate                string `yaml:"gate"`
		ExternalCallAdapter string `yaml:"externalCallAdapter"`
		Router              string `yaml:"router"`
		Multicall           string `yaml:"multicall"`
	} `yaml:"contracts"`
}

type coinStanza struct {
	Name     string `yaml:"name"`
	Symbol   string `yaml:"symbol"`
	Decimals uint8  `yaml:"decimals"`
	Wrapped  string `yaml:"wrapped"`
}

func (s stanza) chain() (Chain, error) {
	family, err := ParseFamily(s.Family)
	if err != nil {
		return Chain{}, err
	}
	c := Chain{
		ID: s.ID, Native: s.Native, Name: s.Name, Listed: cmp.Or(s.Listed, s.Name), Retired: s.Retired, Family: family,
		Coin:      Coin{Name: s.Coin.Name, Symbol: s.Coin.Symbol, Decimals: s.Coin.Decimals},
		BlockTime: s.BlockTime, Finality: s.Finality, FirstBlock: s.First, Explorer: s.Explorer,
	}
	if !s.Since.IsZero() {
		c.Since = uint64(s.Since.Unix())
	}
	var mistakes []error
	if s.Genesis != "" {
		if c.Genesis, err = ParseSolanaHash(s.Genesis); err != nil {
			mistakes = append(mistakes, err)
		}
	}
	for _, field := range []struct {
		text string
		into *Address
	}{
		{s.Coin.Wrapped, &c.WrappedCoin},
		{s.Contracts.DlnSource, &c.Contracts.DlnSource},
		{s.Contracts.DlnDestination, &c.Contracts.DlnDestination},
		{s.Contracts.Gate, &c.Contracts.Gate},
		{s.Contracts.ExternalCallAdapter, &c.Contracts.ExternalCallAdapter},
		{s.Contracts.Router, &c.Contracts.Router},
		{s.Contracts.Multicall, &c.Contracts.Multicall},
	} {
		if field.text == "" {
			continue
		}
		address, err := ParseAddress(field.text, family)
		if err != nil {
			mistakes = append(mistakes, err)
		}
		*field.into = address
	}
	return c, errors.Join(mistakes...)
}
