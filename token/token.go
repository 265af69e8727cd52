// Package token provides names and prices of tokens.
//
// [Directory.Lookup] goes from the operator's list to the chain's registry entry, to memory, to values of an earlier
// process (Recall), and finally to the contracts, by the chain's [Reader], in one batch per chain. [Directory.USD] asks
// every [PriceSource] concurrently and takes the median of those that agree.
//
// Metadata and prices are each kept in a memory of bounded size. Callers share loads, which run to their end even if
// the callers leave. Everything is safe for concurrent use; Readers, PriceSources and Recall are called from the
// goroutines of loads, where a panic becomes an error of that load, and Remember from a goroutine of its own.
// [Directory.Close] waits for both.
package token

import (
	"context"
	"math/big"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"crossgate/chain"
)

// Token is a token's metadata.
type Token struct {
	Decimals uint8
	Name     string
	Symbol   string
	LogoURI  string
	IsSingle bool // only one endpoint says so, and no list
}

// Key identifies a token: the zero address is its chain's native coin.
type Key struct {
	Chain   chain.ID
	Address chain.Address
}

// Reading is a token contract's answer about itself. If the contract returns nonsense or nothing, fields are empty.
type Reading struct {
	Decimals *uint8
	Name     string
	Symbol   string
	IsSingle bool // only one endpoint says so
}

// Reader reads metadata from a chain.
type Reader interface {
	// ReadTokens asks the contracts of addresses, in one round trip if the chain allows it, and returns one reading for
	// each in the same order.
	ReadTokens(ctx context.Context, addresses []chain.Address) ([]Reading, error)
}

// PriceSource returns the USD price of one whole token for those of keys that it knows.
type PriceSource func(ctx context.Context, keys []Key) (map[Key]*big.Rat, error)

// PastPriceSource is a PriceSource for prices at a time.
type PastPriceSource func(ctx context.Context, at time.Time, keys []Key) (map[Key]*big.Rat, error)

// longestText is more than any honest name has, in runes.
const longestText = 256

// CleanText makes a contract's name for itself safe to pass on: valid UTF-8 of bounded length, without invisible
// characters, including zeros that pad a field of fixed size.
func CleanText(said string) string {
	said = strings.ToValidUTF8(said, "")
	said = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, said)
	if utf8.RuneCountInString(said) > longestText {
		said = string([]rune(said)[:longestText])
	}
	return strings.TrimSpace(said)
}
