package price

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"time"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/token"
)

// feedsPatience is how long to wait for chains: other sources' prices are held up as long.
const feedsPatience = 600 * time.Millisecond

// oracles are those of Aave V3: prices in USD with eight decimals, from Chainlink's feeds; they refuse other tokens
// (npm @bgd-labs/aave-address-book 4.44.22; https://aave.com/docs/aave-v3/smart-contracts/oracles).
var oracles = map[chain.ID]string{
	1: "0x54586bE62E3c3580375aE3723C145253060Ca0C2", 10: "0xD81eb3728a631871a7eBBaD631b5f424909f0c77",
	56: "0x39bc1bfDa2130d6Bb6DBEfd366939b4c7aa7C697", 137: "0xb023e699F5a33916Ea823A16485e259257cA8Bd1",
	8453: "0x2Cc0Fc26eD4563A5ce5e8bdcfe1A2878676Ae156", 42161: "0xb56c2F0B653B2e0b10C9b928C8580Ac5Df02C7C7",
	43114: "0xEBd36016B3eD09D4693Ed4251c67Bd858c3c7C9C", 59144: "0xCFDAdA7DCd2e785cF706BaDBC2B8Af5084d595e9",
	100000002: "0xeb0a051be10228213BAEb449db63719d6742F7c4", 100000014: "0xD63f7658C66B2934Bd234D79D06aEF5290734B30",
	100000023: "0x47a063CfDa980532267970d478EC340C0F80E8df", 100000028: "0x33E0b3fc976DC9C516926BA48CfC0A9E10a2aAA5",
	100000031: "0x421117D7319E96d831972b3F7e970bbfe29C4F21",
}

var oracleUnit = big.NewInt(100_000_000)

// Contracts calls contracts on a chain's newest block in one batch; one that refuses, or is absent, answers nothing.
type Contracts func(ctx context.Context, id chain.ID, calls []chain.ContractCall) ([][]byte, error)

type feeds struct {
	contracts Contracts
	registry  chain.Registry
}

// Feeds returns a source of prices from oracles, for the tokens that Aave lends; a coin is priced as its wrapped form.
// If only some chains answer, it returns their prices along with the error.
func Feeds(contracts Contracts, registry chain.Registry) token.PriceSource {
	return feeds{contracts, registry}.prices
}

func (f feeds) prices(ctx context.Context, keys []token.Key) (map[token.Key]*big.Rat, error) {
	ctx, cancel := context.WithTimeout(ctx, feedsPatience)
	defer cancel()
	byChain := map[chain.ID][]token.Key{}
	for _, key := range keys {
		_, priced := oracles[key.Chain]
		if c, read := f.registry.Chain(key.Chain); priced && read && key.Address.Fits(c.Family) {
			byChain[key.Chain] = append(byChain[key.Chain], key)
		}
	}
	return gather(maps.Keys(byChain), func(id chain.ID) (map[token.Key]*big.Rat, error) { return f.ask(ctx, id, byChain[id]) })
}

// ask reads the prices of keys, which are of one chain.
func (f feeds) ask(ctx context.Context, id chain.ID, keys []token.Key) (map[token.Key]*big.Rat, error) {
	c, _ := f.registry.Chain(id)
	oracle, err := chain.ParseAddress(oracles[id], chain.EVM)
	if err != nil {
		return nil, fmt.Errorf("price oracle of chain %d: %w", id, err)
	}
	calls := make([]chain.ContractCall, len(keys))
	for i, key := range keys {
		asset := key.Address
		if asset.IsNative() {
			asset = c.WrappedCoin
		}
		calls[i] = chain.ContractCall{To: oracle, Data: words.Call("getAssetPrice(address)", asset)}
	}
	answers, err := f.contracts(ctx, id, calls)
	if err == nil && len(answers) != len(keys) {
		err = fmt.Errorf("%d answers for %d tokens", len(answers), len(keys))
	}
	if err != nil {
		return nil, fmt.Errorf("price feeds on chain %d: %w", id, err)
	}
	prices := make(map[token.Key]*big.Rat, len(keys))
	for i, key := range keys {
		if usd := new(big.Int).SetBytes(answers[i]); len(answers[i]) == 32 && usd.Sign() > 0 {
			prices[key] = new(big.Rat).SetFrac(usd, oracleUnit)
		}
	}
	return prices, nil
}
