package token

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"

	"crossgate/chain"
)

// The tokens that most orders are about: their addresses and their contracts' own answers, which are facts under no
// licence; the selection is ours. Compared with the Uniswap default token list 22.21.0 (npm,
// @uniswap/default-token-list); BTCB and ETH on BNB Chain with Aave's address book 4.44.22 (npm,
// @bgd-labs/aave-address-book); USDG on Robinhood Chain and the second face of Arc's coin with the answers that wallets
// read on these chains in September 2026; TRON's with the order protocol's own examples for integrators.
//
//go:embed wellknown.json
var wellKnownFile []byte

// wellKnown returns the tokens of wellknown.json. They let amounts be scaled on chains that are not read, in orders
// between such a chain and one that is read.
var wellKnown = sync.OnceValue(func() map[Key]Token {
	var rows []struct {
		Chain        chain.ID
		Address      string
		Decimals     *uint8
		Symbol, Name string
	}
	if err := json.Unmarshal(wellKnownFile, &rows); err != nil {
		panic("token: embedded wellknown.json: " + err.Error())
	}
	tokens := make(map[Key]Token, len(rows))
	for _, each := range rows {
		address, err := chain.ParseAddress(each.Address, chain.Documented().Family(each.Chain))
		key := Key{each.Chain, address}
		_, isTwice := tokens[key]
		if err != nil || isTwice || each.Decimals == nil || each.Symbol == "" || each.Name == "" {
			panic(fmt.Sprintf("token: %s of chain %d in wellknown.json is incomplete, repeated or of another family: %v", each.Address, each.Chain, err))
		}
		tokens[key] = Token{Decimals: *each.Decimals, Name: each.Name, Symbol: each.Symbol}
	}
	return tokens
})

// WellKnown returns a token of a chain by its symbol, if it is one of those that most orders are about.
func WellKnown(id chain.ID, symbol string) (key Key, known bool) {
	return WellKnownBy(id, func(other string) bool { return other == symbol })
}

// WellKnownBy is WellKnown for a symbol that satisfies is.
func WellKnownBy(id chain.ID, is func(symbol string) bool) (key Key, known bool) {
	for key, each := range wellKnown() {
		if key.Chain == id && is(each.Symbol) {
			return key, true
		}
	}
	return Key{}, false
}
