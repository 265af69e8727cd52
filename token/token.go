// Package token knows what a token is called and what it is worth in USD.
package token

import (
	"context"
	"math/big"

	"crossgate/chain"
)

// Token is a token's metadata.
type Token struct {
	Decimals uint8
	Name     string
	Symbol   string
	LogoURI  string
}

// Key names a token: the zero address is its chain's native coin.
type Key struct {
	Chain   chain.ID
	Address chain.Address
}

// Reading is what a token's contract said of itself. Contracts that answer nonsense or nothing leave
// fields empty.
type Reading struct {
	Decimals *uint8
	Name     string
	Symbol   string
}

// Reader reads metadata from a chain.
type Reader interface {
	// ReadTokens asks the contracts of addresses, in one round trip where the chain allows it, and
	// returns one reading for each in the same order.
	ReadTokens(ctx context.Context, addresses []chain.Address) ([]Reading, error)
}

// PriceSource tells the USD price of one whole token for those of keys that it knows.
type PriceSource func(ctx context.Context, keys []Key) (map[Key]*big.Rat, error)
