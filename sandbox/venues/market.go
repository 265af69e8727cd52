// Package venues is the swap services of the sandbox: each answers over HTTP as the real one does, with its own paths,
// parameter names, units, errors and keys. All of them price swaps over the same pools of the sandbox's chains.
//
// A venue is one file with one dialect: its endpoints, its contracts and its refusals. All requests share one engine
// (request.go). An endpoint passes the request on as an ask; the engine decodes chain, tokens, amount and fees, finds
// the best route through the pools at their current reserves (route.go), deducts what the venue keeps, and computes the
// minimum output. The endpoint formats the quote as the venue does, with calldata for the contract VenueRouter
// (router.go) if the venue hands out transactions. An error becomes one of the venue's refusals.
//
// Jupiter and DFlow share solana.go, which uses the sandbox's ledger to find routes and build transactions. DefiLlama
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

// Token is a token that the venues list, or the native coin under the zero address. For a Solana token, Chain is the
// protocol's ID of Solana, and Address is base58.
type Token struct {
	Chain                 uint64
	Address, Symbol, Name string
	Decimals              int
	// USD is the price at which the pools were filled.
	USD float64
}

// Market is everything a venue can see of the sandbox.
type Market struct {
	Pools  []Pool
	Tokens []Token
	// Wrapped is the wrapped coin's address by EVM chain id.
	Wrapped map[uint64]string
	// Reserves returns the current reserves of TokenA and TokenB of a pool, in smallest units.
	Reserves func(ctx context.Context, chain uint64, pool string) (a, b *big.Int, err error)
	Now      func() time.Time
	// Lead returns how far a chain's time is ahead of the clock, because blocks were made faster than one a second;
	// deadlines are postponed by it. nil: no chain is ahead.
	Lead func(chain uint64) time.Duration
	// Solana has the pools of that chain; nil if there are none.
	Solana *solana.Chain
}

// Prices is the name of the USD price service, which does not swap.
const Prices = "defillama"

// Handlers returns a handler for each venue and for Prices. Each serves the paths of the real service from the root.
func Handlers(m Market) map[string]http.Handler {
	indexed := index(m)
	handlers := map[string]http.Handler{Prices: defiLlama.handler(indexed)}
	for name, d := range dialects {
		handlers[name] = d.handler(indexed)
	}
	return handlers
}
