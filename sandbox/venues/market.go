// Package venues is the swap services of the sandbox: each answers over HTTP as the real one does, with its own paths,
// parameter names, units, errors and keys, and all of them price over the same pools of the sandbox's chains.
//
// A venue is one file that holds one dialect: its endpoints, its contracts and what it says when it declines. Every
// request goes through the same engine (request.go). The endpoint hands it over as an ask; the engine reads chain,
// tokens, amount and fees, finds the best route through the pools at their present reserves (route.go), takes what
// the venue keeps, and computes the least acceptable outcome. The endpoint writes the quote as the venue does, with
// calldata for the contract VenueRouter (router.go) where the venue hands out transactions. An error becomes the
// venue's own words in its decline function.
//
// Jupiter and DFlow share solana.go, which has the sandbox's ledger find routes and build transactions. DefiLlama
// serves prices only.
//
// Handlers may be called from any number of goroutines: all shared state is read-only, and reserves are read through
// Market.Reserves.
package venues

import (
	"context"
	"math/big"
	"net/http"
	"time"

	"crossgate/sandbox/solana"
)

// Pool is one constant-product pool that a venue may route through.
type Pool struct {
	// Chain is the EVM (EIP-155) chain id, as venues use it.
	Chain uint64
	// Address, TokenA and TokenB are 0x hex; TokenA is the pool's token0. The native coin trades as its wrapped token.
	Address, TokenA, TokenB string
	// FeeBps is what the pool keeps of every input, in basis points.
	FeeBps int
}

// Token is a token, or the native coin under the zero address, that the venues list. On Solana Chain is the
// protocol's id of it, and Address base58.
type Token struct {
	Chain                 uint64
	Address, Symbol, Name string
	Decimals              int
	// USD is the price the pools were seeded at.
	USD float64
}

// Market is everything a venue can see of the sandbox.
type Market struct {
	Pools  []Pool
	Tokens []Token
	// Wrapped is the wrapped coin's address by EVM chain id.
	Wrapped map[uint64]string
	// Reserves answers the present reserves of TokenA and TokenB of a pool, in smallest units.
	Reserves func(ctx context.Context, chain uint64, pool string) (a, b *big.Int, err error)
	Now      func() time.Time
	// Lead is how far a chain's time is ahead of the clock, because blocks were made faster than one a second;
	// deadlines are that much later. nil: no chain is.
	Lead func(chain uint64) time.Duration
	// Solana has the pools of that chain; nil: there are none.
	Solana *solana.Chain
}

// Prices is the name of the service for USD prices, which swaps nothing.
const Prices = "defillama"

// Handlers returns one handler per venue, and Prices. Each serves the paths of the real service from the root.
func Handlers(m Market) map[string]http.Handler {
	indexed := index(m)
	handlers := map[string]http.Handler{Prices: defiLlama.handler(indexed)}
	for name, d := range dialects {
		handlers[name] = d.handler(indexed)
	}
	return handlers
}
