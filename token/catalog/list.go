// Package catalog reads public token lists and keeps their credible entries.
//
// [Parse] reads the format of tokenlists.org (Uniswap's default list and most others) and the answer of Jupiter's
// Tokens API. An entry with a hostile or misleading text is left out; a list that contradicts itself is refused.
// [List.Check] compares the rest with the contracts: a list with wrong decimals is refused as a whole, since its
// other facts are then suspect. A [Catalog] holds the lists that passed.
package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"crossgate/chain"
	"crossgate/token"
)

// Bounds of a list. Uniswap's default list has 1723 tokens in 0.6 MB, Jupiter's verified ones are some 5000 in 8 MB.
const (
	MaxBytes  = 16 << 20
	MaxTokens = 20_000
)

// mostDecimals is the largest number for which 10^decimals fits into 256 bits.
const mostDecimals = 77

// listedSolana is the chainId of Solana, which has no EIP-155 number, in lists of the tokenlists.org format.
const listedSolana = 501000101

// List is a public list as published, without the entries that were left out.
type List struct {
	Tokens  map[token.Key]token.Token
	LeftOut map[string]int // number of entries by reason; those of chains unknown to the gateway are not counted
}

// publishedToken is a token of either format.
type publishedToken struct {
	ChainID  uint64 `json:"chainId"` // tokenlists.org: EIP-155
	Address  string `json:"address"`
	ID       string `json:"id"` // Jupiter: the mint
	Symbol   string `json:"symbol"`
	Name     string `json:"name"`
	Decimals *int   `json:"decimals"`
	LogoURI  string `json:"logoURI"`
	Icon     string `json:"icon"` // Jupiter
}

// Parse parses a list of either format. Entries of chains that are not in the registry are skipped.
func Parse(text []byte, chains chain.Registry) (List, error) {
	entries, err := parseEntries(text)
	if err != nil {
		return List{}, fmt.Errorf("read token list: %w", err)
	}
	if len(entries) > MaxTokens {
		return List{}, fmt.Errorf("read token list: %d tokens, more than %d", len(entries), MaxTokens)
	}
	byNumber := make(map[uint64]chain.Chain)
	for _, c := range chains.All() {
		if c.Native != 0 {
			byNumber[c.Native] = c
		}
		if c.ID == chain.Solana {
			byNumber[listedSolana] = c
		}
	}
	l := List{Tokens: make(map[token.Key]token.Token), LeftOut: make(map[string]int)}
	for _, e := range entries {
		c, known := byNumber[e.ChainID]
		if !known {
			continue
		}
		key, t, err := e.token(c)
		if err != nil {
			l.LeftOut[err.Error()]++
			continue
		}
		if before, isTwice := l.Tokens[key]; isTwice && before.Decimals != t.Decimals {
			return List{}, fmt.Errorf("read token list: %s of chain %d has %d and %d decimals", e.Address, key.Chain, before.Decimals, t.Decimals)
		}
		l.Tokens[key] = t
	}
	return l, nil
}

// parseEntries returns the tokens of an object with tokens (tokenlists.org), or of an array of mints (Jupiter).
func parseEntries(text []byte) (entries []publishedToken, err error) {
	if len(text) > MaxBytes {
		return nil, fmt.Errorf("more than %d bytes", MaxBytes)
	}
	if bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("[")) {
		if err := json.Unmarshal(text, &entries); err != nil {
			return nil, unquoted(err)
		}
		for i, e := range entries {
			entries[i].ChainID, entries[i].Address, entries[i].LogoURI = listedSolana, e.ID, e.Icon
		}
		return entries, nil
	}
	var file struct {
		Tokens []publishedToken `json:"tokens"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, unquoted(err)
	}
	if file.Tokens == nil {
		return nil, errors.New("neither an object with tokens nor an array of them")
	}
	return file.Tokens, nil
}

// unquoted returns an error of the JSON decoder without the text that it quotes.
func unquoted(err error) error {
	if wrong, is := errors.AsType[*json.UnmarshalTypeError](err); is {
		return fmt.Errorf("%s has the wrong type at byte %d", wrong.Field, wrong.Offset)
	}
	if wrong, is := errors.AsType[*json.SyntaxError](err); is {
		return fmt.Errorf("malformed JSON at byte %d", wrong.Offset)
	}
	return errors.New("malformed JSON")
}

// Reasons to leave entries out.
var (
	errAddress   = errors.New("malformed address")
	errCoin      = errors.New("the chain's coin, which needs no list")
	errDecimals  = errors.New("no decimals, or too many")
	errText      = errors.New("empty, over-long or invisible text")
	errLookalike = errors.New("looks like another token")
)

// token returns the token of an entry that is credible by itself, or the reason to leave the entry out.
func (e publishedToken) token(c chain.Chain) (key token.Key, t token.Token, err error) {
	address, err := chain.ParseAddress(e.Address, c.Family)
	if err != nil || c.Family == chain.EVM && chain.ChecksumFails(e.Address) {
		return key, t, errAddress
	}
	if address.IsNative() {
		return key, t, errCoin
	}
	if e.Decimals == nil || *e.Decimals < 0 || *e.Decimals > mostDecimals {
		return key, t, errDecimals
	}
	key = token.Key{Chain: c.ID, Address: address}
	t = token.Token{Decimals: uint8(*e.Decimals), Name: e.Name, Symbol: e.Symbol, LogoURI: logo(e.LogoURI)}
	return key, t, CheckText(c, key, t)
}

// Check returns the tokens of a list on one chain whose contracts confirm it by what they said, or an error if one
// contradicts it. A contract that says nothing confirms nothing.
func (l List) Check(c chain.Chain, said map[token.Key]token.Reading) (confirmed map[token.Key]token.Token, err error) {
	confirmed = make(map[token.Key]token.Token)
	for key, t := range l.Tokens {
		found := said[key].Decimals
		if key.Chain != c.ID || found == nil {
			continue
		}
		if *found != t.Decimals {
			return nil, fmt.Errorf("%s (%s) of chain %d has %d decimals by the list and %d by its contract",
				t.Symbol, key.Address.Format(c.Family), key.Chain, t.Decimals, *found)
		}
		confirmed[key] = t
	}
	return confirmed, nil
}
