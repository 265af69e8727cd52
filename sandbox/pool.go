package sandbox

import (
	"bytes"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
)

// Pool is a constant-product pool of two tokens.
type Pool struct {
	Address        common.Address
	Token0, Token1 Token // by ascending address
	FeeBps         uint64
	reserves       [2]*big.Int // at genesis
}

// tiers are the pools of every pair: a deep one with a high fee and a shallow one with a low fee, so that the better
// route depends on the amount.
var tiers = []struct {
	feeBps  uint64
	sideUSD float64 // value of each side at genesis
}{
	{30, 20_000_000},
	{5, 1_500_000},
}

// newPools creates the pools of every traded pair of the chain's tokens, with equal value on both sides.
func newPools(tokens []Token) []Pool {
	wrapped := tokens[0]
	bySymbol := map[string]Token{}
	for _, t := range tokens {
		bySymbol[t.Symbol] = t
	}
	pairs := [][2]Token{
		{wrapped, bySymbol[usdc]},
		{wrapped, bySymbol[dai]},
		{wrapped, bySymbol[wbtc]},
		{wrapped, bySymbol[mkr]},
		{bySymbol[usdc], bySymbol[dai]},
		{bySymbol[usdc], bySymbol[wbtc]},
		{wrapped, bySymbol[usdt]},
		{bySymbol[usdc], bySymbol[usdt]},
	}
	var pools []Pool
	for _, pair := range pairs {
		if pair[0].isCoin() || pair[1].isCoin() {
			continue // token missing on this chain
		}
		for _, tier := range tiers {
			pools = append(pools, newPool(pair[0], pair[1], tier.feeBps, tier.sideUSD))
		}
	}
	return pools
}

func newPool(a, b Token, feeBps uint64, sideUSD float64) Pool {
	if bytes.Compare(a.Address[:], b.Address[:]) > 0 {
		a, b = b, a
	}
	return Pool{
		Address: madeAddress(fmt.Sprintf("pool %s/%s %d bps on chain %s", a.Symbol, b.Symbol, feeBps, a.Chain)),
		Token0:  a, Token1: b, FeeBps: feeBps,
		reserves: [2]*big.Int{worth(a, sideUSD), worth(b, sideUSD)},
	}
}

// worth returns the amount of a token that is worth usd.
func worth(t Token, usd float64) *big.Int { return t.worth(new(big.Rat).SetFloat64(usd)) }

// worth returns the amount of the token that is worth usd, rounded down.
func (t Token) worth(usd *big.Rat) *big.Int {
	amount := new(big.Rat).Quo(usd, new(big.Rat).SetFloat64(t.USD))
	amount.Mul(amount, new(big.Rat).SetInt(t.units("1")))
	return new(big.Int).Div(amount.Num(), amount.Denom())
}

// value returns what an amount of the token is worth in USD.
func (t Token) value(amount *big.Int) *big.Rat {
	whole := new(big.Rat).SetFrac(amount, t.units("1"))
	return whole.Mul(whole, new(big.Rat).SetFloat64(t.USD))
}

// wrappedPool returns the deep pool of the wrapped coin and USDC, the first of all pools.
func (c *Chain) wrappedPool() Pool { return c.Pools[0] }
