package token

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"crossgate/chain"
)

// Listing is a token of a chain's list.
type Listing struct {
	Key
	Token
	IsProminent bool // the coin, or in the operator's list, or well known
}

// wrapperPatience is how long a list waits for the name of the chain's wrapped coin, if no list has it.
const wrapperPatience = time.Second

// Listed returns the vouched-for tokens of a chain by ascending address: those of the operator's list, the chain's
// coin, DirectoryOptions.Listed, the well-known ones and the wrapped coin, which may have to be read from the chain and
// is left out if that is slow. The first listing of a token counts.
func (d *Directory) Listed(ctx context.Context, id chain.ID) []Listing {
	c, registered := d.Registry.Chain(id)
	tokens := make(map[chain.Address]Listing)
	add := func(address chain.Address, t Token, isProminent bool) {
		if listed, known := tokens[address]; known {
			t, isProminent = listed.Token, listed.IsProminent || isProminent
		}
		tokens[address] = Listing{Key{id, address}, d.complete(Key{id, address}, t), isProminent}
	}
	for key, t := range d.Own {
		if key.Chain == id {
			add(key.Address, t, true)
		}
	}
	if registered {
		add(chain.NativeCoin(c.Family), Token{Decimals: c.Coin.Decimals, Name: c.Coin.Name, Symbol: c.Coin.Symbol}, true)
	}
	if d.DirectoryOptions.Listed != nil {
		for address, t := range d.DirectoryOptions.Listed(ctx, id) {
			add(address, t, false)
		}
	}
	for key, t := range wellKnown() {
		if key.Chain == id {
			add(key.Address, t, true)
		}
	}
	if _, known := tokens[c.WrappedCoin]; registered && !known && !c.WrappedCoin.IsAbsent() {
		limited, cancel := context.WithTimeout(ctx, wrapperPatience)
		defer cancel()
		if wrapped, err := d.Lookup(limited, id, c.WrappedCoin); err == nil {
			add(c.WrappedCoin, wrapped[0], true)
		}
	}
	listed := slices.Collect(maps.Values(tokens))
	slices.SortFunc(listed, func(a, b Listing) int { return bytes.Compare(a.Address.Bytes(), b.Address.Bytes()) })
	return listed
}

// Search returns the listed tokens that match a text, best first, at most the given number: the token at that address,
// then those whose symbol or name equals the text, begins with it, or contains it, in any case.
func Search(listed []Listing, text string, most int) []Listing {
	text = strings.TrimSpace(text)
	address, _, err := chain.ParseAnyAddress(text) // base58 is case-sensitive
	if text = strings.ToLower(text); text == "" {
		return nil
	}
	ranks := map[Key]int{}
	hits := those(listed, func(l Listing) bool {
		if ranks[l.Key] = rankOf(l, text); err == nil && l.Address == address {
			ranks[l.Key] = 0
		}
		return ranks[l.Key] >= 0
	})
	slices.SortStableFunc(hits, func(a, b Listing) int { return ranks[a.Key] - ranks[b.Key] })
	return hits[:min(most, len(hits))]
}

// Named returns the listed tokens whose whole symbol or, if there are none, whole name is the text. Of several it
// returns the chain's coin, or else the prominent ones if there are any: a wrapper of a coin often has its symbol. Case
// does not matter.
func Named(listed []Listing, text string) []Listing {
	text = strings.TrimSpace(text)
	for _, of := range []func(Token) string{func(t Token) string { return t.Symbol }, func(t Token) string { return t.Name }} {
		all := those(listed, func(l Listing) bool { return of(l.Token) != "" && strings.EqualFold(of(l.Token), text) })
		coin := those(all, func(l Listing) bool { return l.Address.IsNative() })
		prominent := those(all, func(l Listing) bool { return l.IsProminent })
		for _, best := range [][]Listing{coin, prominent, all} {
			if len(best) > 0 {
				return best
			}
		}
	}
	return nil
}

func those(listed []Listing, are func(Listing) bool) []Listing {
	return slices.DeleteFunc(slices.Clone(listed), func(l Listing) bool { return !are(l) })
}

// rankOf ranks how well a token's symbol and name match a lower-case text: 1 is best, negative not at all.
func rankOf(t Listing, text string) int {
	symbol, name := strings.ToLower(t.Symbol), strings.ToLower(t.Name)
	for rank, fits := range []bool{
		symbol == text, name == text, strings.HasPrefix(symbol, text), strings.HasPrefix(name, text),
		strings.Contains(symbol, text), strings.Contains(name, text),
	} {
		if fits {
			return rank + 1
		}
	}
	return -1
}

// Read returns the contracts' own answers about tokens of one chain, whatever lists say; stored ones are recalled.
// Contracts without an answer are left out.
func (d *Directory) Read(ctx context.Context, id chain.ID, addresses ...chain.Address) (map[Key]Reading, error) {
	keys := make([]Key, len(addresses))
	for i, address := range addresses {
		keys[i] = Key{id, address}
	}
	if _, readable := d.Readers[id]; !readable {
		return nil, nil
	}
	read, err := d.contracts.get(ctx, keys, d.read)
	if err != nil {
		return nil, err
	}
	said := make(map[Key]Reading, len(read))
	for key, r := range read {
		if r.Decimals != nil {
			said[key] = r.Reading
		}
	}
	return said, nil
}
