package config

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"crossgate/chain"
)

// Tokens are the operator's corrections of token metadata, and the lists that provide tokens.
type Tokens struct {
	Own []Token `yaml:"own"`
	// Lists are public token lists; the first with a token counts. Well-known tokens need none.
	Lists []TokenList `yaml:"lists"`

	Refresh time.Duration // after which a list is fetched again; not a key
}

// TokenList is a public token list: in the format of tokenlists.org, or an answer of Jupiter's Tokens API. A token is
// listed if its contract confirms the decimals; a list that contradicts a contract's decimals is refused as a whole.
type TokenList struct {
	Name      string     `yaml:"name"`      // unique, for the log and the status page
	Endpoints []Endpoint `yaml:"endpoints"` // URLs of the list
}

// Token overrides the metadata of a token's contract.
type Token struct {
	Chain    chain.ID      `yaml:"chain"`                                                               // the token's chain
	Address  chain.Address `yaml:"address"`                                                             // all zero: the native coin
	Name     string        `yaml:"name"`                                                                // for display
	Symbol   string        `yaml:"symbol"`                                                              // for display, such as USDC
	Decimals uint8         `yaml:"decimals" range:"..77; 10^77 is the largest that fits into 256 bits"` // digits after the point
}

func (t Tokens) check(registry chain.Registry, at place) {
	name := func(i int) place { return at.key("lists").item(i).key("name") }
	checkUnique(t.Lists, func(l TokenList) string { return l.Name }, "lists", name)
	for i, list := range t.Lists {
		name(i).mistakeIf(list.Name == "" || strings.ContainsAny(list.Name, "/?& \t\n"), "want a name without spaces, slashes, ? and &")
		checkService(list.Endpoints, at.key("lists").item(i).key("endpoints"))
	}
	type key struct {
		chain   chain.ID
		address chain.Address
	}
	for i, token := range t.Own {
		token.check(registry, at.key("own").item(i))
	}
	checkUnique(t.Own, func(t Token) key { return key{t.Chain, t.Address} }, "own", at.key("own").item)
}

func (t Token) check(registry chain.Registry, at place) {
	if _, known := registry.Chain(t.Chain); !known {
		at.key("chain").mistake("want the id of a documented chain or of one under chains")
	} else {
		checkAddress(t.Address, registry.Family(t.Chain), at.key("address"))
	}
	at.key("symbol").mistakeIf(t.Symbol == "", "want the token's symbol")
}

func isWebAddress(text string) bool { return isAddress(text, "https", "http") }

func isAddress(text string, schemes ...string) bool {
	parsed, err := url.Parse(text)
	return err == nil && parsed.Host != "" && !strings.Contains(text, " ") && slices.Contains(schemes, parsed.Scheme)
}
