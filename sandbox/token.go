package sandbox

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"crossgate/chain"
	"crossgate/sandbox/contracts"
	"crossgate/sandbox/solana"
)

// Token is a token of one chain.
type Token struct {
	Chain   chain.ID
	Address common.Address
	// Mint is the token's address on Solana, where Address stays zero.
	Mint   solana.Key
	Symbol string
	Name   string
	// Decimals is negative if the contract has no decimals().
	Decimals int
	// USD is what one token was worth when the pools were filled.
	USD float64

	contract *contracts.Contract
}

// raw returns the token's address as orders hold it, all zero for the coin.
func (t Token) raw() []byte {
	if t.Chain == chain.Solana {
		return t.Mint[:]
	}
	return t.Address.Bytes()
}

// isCoin reports whether this is the chain's coin.
func (t Token) isCoin() bool { return t.Address == common.Address{} && t.Mint == solana.Key{} }

// units converts a decimal number of whole tokens to smallest units.
func (t Token) units(amount string) *big.Int { return units(amount, max(t.Decimals, 0)) }

// hasDecimals reports whether the contract has decimals().
func (t Token) hasDecimals() bool { return t.Decimals >= 0 }

// Symbols of the sandbox's tokens. MKR returns its name and symbol as bytes32, like Maker's token; MUTE reverts when
// asked for its decimals.
const (
	usdc = "USDC"
	wbtc = "WBTC"
	dai  = "DAI"
	mkr  = "MKR"
	mute = "MUTE"
	usdt = "USDT" // on TRON only
)

// listing describes a token on all its chains.
type listing struct {
	symbol, name string
	decimals     int
	usd          float64
	contract     *contracts.Contract
	// addresses are the real ones by chain ID; on other chains the address is made up.
	addresses map[chain.ID]string
}

// listings has the real addresses from the tokens' issuers: Circle, WBTC's and MakerDAO's chain lists.
var listings = []listing{
	{usdc, "USD Coin", 6, 1, contracts.Token, map[chain.ID]string{
		1:         "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
		137:       "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359",
		8453:      "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
		100000014: "0x29219dd400f2Bf60E5a23d13Be72B486D4038894",
	}},
	{wbtc, "Wrapped BTC", 8, 90000, contracts.Token, map[chain.ID]string{
		1:   "0x2260FAC5E5542a773Aa44fBCfeDf7C193bc2C599",
		137: "0x1BFD67037B42Cf73acF2047067bd4F2C47D9BfD6",
	}},
	{dai, "Dai Stablecoin", 18, 1, contracts.Token, map[chain.ID]string{
		1:   "0x6B175474E89094C44Da98b954EedeAC495271d0F",
		137: "0x8f3Cf7ad23Cd3CaDbD9735AFf958023239c6A063",
	}},
	{mkr, "Maker", 18, 1800, contracts.BytesToken, map[chain.ID]string{
		1: "0x9f8F72aA9304c8B593d555F12eF6589cC3A579A2",
	}},
	{mute, "Mute Token", -1, 0, contracts.MuteToken, nil},
}

// tronListings has TRON's tokens, from Tether's and Circle's lists.
var tronListings = []listing{
	{usdt, "Tether USD", 6, 1, contracts.Token, map[chain.ID]string{
		chain.Tron: "0xa614f803B6FD780986A42c78Ec9c7f77e6DeD13C",
	}},
	{usdc, "USD Coin", 6, 1, contracts.Token, map[chain.ID]string{
		chain.Tron: "0x3487b63D30B5B2C87fb7ffa8bcfADE38EAaC1abe",
	}},
}

// newTokens returns the chain's tokens, the wrapped coin first.
func newTokens(facts chain.Chain, coinUSD float64) []Token {
	listings := listings
	if facts.Family == chain.TVM {
		listings = tronListings
	}
	tokens := []Token{{
		Chain: facts.ID, Address: common.BytesToAddress(facts.WrappedCoin.Bytes()),
		Symbol: "W" + facts.Coin.Symbol, Name: "Wrapped " + facts.Coin.Name,
		Decimals: int(facts.Coin.Decimals), USD: coinUSD, contract: contracts.WrappedCoin,
	}}
	for _, l := range listings {
		address := madeAddress(l.symbol + " on chain " + facts.ID.String())
		if real, ok := l.addresses[facts.ID]; ok {
			address = common.HexToAddress(real)
		}
		tokens = append(tokens, Token{
			Chain: facts.ID, Address: address, Symbol: l.symbol, Name: l.name,
			Decimals: l.decimals, USD: l.usd, contract: l.contract,
		})
	}
	return tokens
}
