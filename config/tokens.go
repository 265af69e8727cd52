package config

import (
	"net/url"
	"strings"

	"crossgate/chain"
)

// Tokens are the operator's corrections of token metadata.
type Tokens struct {
	// Logo is the URL of token logos, with placeholders {chainId} and {address}; empty: deBridge's.
	Logo string  `yaml:"logo"`
	Own  []Token `yaml:"own"`
}

// Token overrides the metadata of a token's contract.
type Token struct {
	Chain    chain.ID      `yaml:"chain"`
	Address  chain.Address `yaml:"address"` // all zero: the native coin
	Name     string        `yaml:"name"`
	Symbol   string        `yaml:"symbol"`
	Decimals uint8         `yaml:"decimals"`
	Logo     string        `yaml:"logo"`
}

// mostDecimals is the largest number for which 10^decimals fits into 256 bits.
const mostDecimals = 77

func (t Tokens) check(registry chain.Registry, at place) {
	at.key("logo").mistakeIf(t.Logo != "" && (!isWebAddress(t.Logo) || !strings.Contains(t.Logo, "{address}")),
		"want a URL with the placeholder {address} and, if needed, {chainId}")
	type key struct {
		chain   chain.ID
		address chain.Address
	}
	first := make(map[key]int)
	for i, token := range t.Own {
		at := at.key("own").item(i)
		token.check(registry, at)
		k := key{token.Chain, token.Address}
		if earlier, taken := first[k]; taken {
			at.mistake("duplicate of own[%d]", earlier)
			continue
		}
		first[k] = i
	}
}

func (t Token) check(registry chain.Registry, at place) {
	if _, known := registry.Chain(t.Chain); !known {
		at.key("chain").mistake("want the id of a documented chain or of one under chains")
	} else {
		checkAddress(t.Address, registry.Family(t.Chain), at.key("address"))
	}
	at.key("symbol").mistakeIf(t.Symbol == "", "want the token's symbol")
	at.key("decimals").mistakeIf(t.Decimals > mostDecimals, "want at most %d", mostDecimals)
	at.key("logo").mistakeIf(t.Logo != "" && !isWebAddress(t.Logo), "want a URL")
}

func isWebAddress(text string) bool {
	parsed, err := url.Parse(text)
	return err == nil && parsed.Host != "" && (parsed.Scheme == "https" || parsed.Scheme == "http")
}
