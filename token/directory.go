package token

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"sync"
	"time"

	"crossgate/chain"
)

// How much a Directory remembers, and how long it waits and uses answers.
const (
	rememberedTokens = 50_000 // per generation; a value is some 200 bytes
	readPatience     = 8 * time.Second
	silentFresh      = 10 * time.Minute // for contracts without an answer: they may be deployed later
	singleFresh      = 5 * time.Second  // for one endpoint's word; doubles with each reading
	longestSingle    = time.Hour
)

// The URL of the hosted service's logos, as its recorded answers spell it, has chain and address in between.
const logos, logo = "https://tokens.debridge.finance/Logo/", "/big/token-logo.png"

// DirectoryOptions configures a Directory. All fields are optional.
type DirectoryOptions struct {
	Registry chain.Registry      // has the native coins and the notation of addresses
	Readers  map[chain.ID]Reader // for chains whose contracts can be read
	Prices   []PriceSource
	// Own is the operator's list, which takes precedence over everything else.
	Own map[Key]Token
	// Listed returns a chain's tokens that others vouch for, and whose texts can be shown.
	Listed func(context.Context, chain.ID) map[chain.Address]Token
	// Recall returns values that Remember stored, even in an earlier process. Missing ones, and those known from a
	// single endpoint, are read from the chains. Remember stores contracts' answers.
	Recall   func(context.Context, []Key) map[Key]Reading
	Remember func(context.Context, map[Key]Reading)
}

// Directory provides names and prices of tokens. It is safe for concurrent use.
type Directory struct {
	DirectoryOptions
	contracts *memory[metadata]
	prices    *memory[price]
	storing   sync.WaitGroup
}

// metadata is a contract's answer with gaps filled in.
type metadata struct {
	Reading
	token Token
	until time.Time     // zero: forever, as a contract's name and decimals do not change
	fresh time.Duration // how long one endpoint's word is used; zero for other answers
}

// NewDirectory returns a Directory that has read nothing from the chains yet.
func NewDirectory(o DirectoryOptions) *Directory {
	d := &Directory{DirectoryOptions: o}
	d.contracts = newMemory(rememberedTokens, readPatience, func(r metadata) bool { return r.until.IsZero() || time.Now().Before(r.until) })
	d.prices = newMemory(rememberedPrices, pricePatience, func(p price) bool { return time.Now().Before(p.until) })
	return d
}

// Close waits until readings in flight have ended and are stored, 8 s at most for each. Call it after the last Lookup.
func (d *Directory) Close() {
	d.contracts.loads.Wait()
	d.storing.Wait()
}

// Lookup returns the metadata of tokens on one chain, in the order asked: from the operator's list, the chain's
// registry entry for its coin, memory, or the contracts, in one reading. If only one endpoint speaks for a contract, a
// list with the same decimals and symbol confirms it, or replaces it if decimals differ or anything is missing.
//
// A contract without decimals gets 0, so that amounts are the chain's own integers. The symbol replaces a missing name,
// the shortened address both. Tokens of chains that cannot be read get the same, unless they are well known
// (wellknown.json) or wrap the coin. An error means that a readable chain did not answer; it is not remembered, and
// comes with the known tokens and zero values for the others.
func (d *Directory) Lookup(ctx context.Context, id chain.ID, addresses ...chain.Address) ([]Token, error) {
	tokens := make([]Token, len(addresses))
	var unread []Key
	for i, address := range addresses {
		token, known := d.settled(Key{id, address})
		if !known {
			unread = append(unread, Key{id, address})
		}
		tokens[i] = token
	}
	if len(unread) == 0 {
		return tokens, nil
	}
	read, err := d.contracts.get(ctx, unread, d.read)
	for i, address := range addresses {
		if r, found := read[Key{id, address}]; found {
			tokens[i] = r.token
		}
	}
	if err != nil {
		err = fmt.Errorf("token metadata on chain %d: %w", id, err)
	}
	return tokens, err
}

// IsSilent reports whether the token's contract was read and returned no decimals, usually because it does not exist.
// It reads nothing itself.
func (d *Directory) IsSilent(key Key) bool {
	said, asked := d.contracts.values.Get(key)
	if !asked || said.Decimals != nil {
		return false
	}
	_, settled := d.settled(key)
	return !settled
}

// Expect starts to read unknown tokens ahead of a lookup, without waiting.
func (d *Directory) Expect(ctx context.Context, keys ...Key) {
	unread := map[chain.ID][]Key{}
	for _, key := range keys {
		if _, known := d.settled(key); !known {
			unread[key.Chain] = append(unread[key.Chain], key)
		}
	}
	for _, keys := range unread {
		d.contracts.claim(ctx, keys, d.read)
	}
}

// settled returns the metadata of a token that needs no reading.
func (d *Directory) settled(key Key) (token Token, known bool) {
	if token, known = d.Own[key]; known {
		return d.complete(key, token), true
	}
	c, registered := d.Registry.Chain(key.Chain)
	if registered && key.Address == chain.NativeCoin(c.Family) {
		return d.complete(key, Token{Decimals: c.Coin.Decimals, Name: c.Coin.Name, Symbol: c.Coin.Symbol}), true
	}
	if _, readable := d.Readers[key.Chain]; readable && !key.Address.IsAbsent() {
		return Token{}, false
	}
	token, known = wellKnown()[key]
	if !known && !c.WrappedCoin.IsAbsent() && key.Address == c.WrappedCoin {
		token.Decimals = c.Coin.Decimals
	}
	return d.complete(key, token), true
}

// read recalls the metadata of keys, all of one chain, and reads the rest from the contracts.
func (d *Directory) read(ctx context.Context, keys []Key) (map[Key]metadata, error) {
	readings := make(map[Key]metadata, len(keys))
	var recalled map[Key]Reading
	if d.Recall != nil {
		recalled = d.Recall(ctx, keys)
	}
	listed := sync.OnceValue(func() map[chain.Address]Token { return d.vouched(ctx, keys[0].Chain) })
	var unread []Key
	var addresses []chain.Address
	isKnown := true
	for _, key := range keys {
		said, known := recalled[key]
		if known {
			readings[key] = d.metadata(key, said, listed)
		}
		if !known || said.IsSingle {
			unread, addresses, isKnown = append(unread, key), append(addresses, key.Address), isKnown && known
		}
	}
	if len(unread) == 0 {
		return readings, nil
	}
	answers, err := d.Readers[keys[0].Chain].ReadTokens(ctx, addresses)
	if err == nil && len(answers) != len(unread) {
		err = fmt.Errorf("%d readings for %d tokens", len(answers), len(unread))
	}
	if err != nil && isKnown {
		return readings, nil
	} else if err != nil {
		return nil, err
	}
	said := map[Key]Reading{}
	for i, key := range unread {
		if _, isRecalled := readings[key]; answers[i].Decimals != nil {
			readings[key], said[key] = d.metadata(key, answers[i], listed), answers[i]
		} else if !isRecalled { // contracts stay; a node may lack them
			readings[key] = d.metadata(key, answers[i], listed)
		}
	}
	if d.Remember != nil && len(said) > 0 {
		d.storing.Go(func() { // lookups do not wait for it
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readPatience)
			defer cancel()
			d.Remember(ctx, said)
		})
	}
	return readings, nil
}

// vouched returns a chain's tokens in lists, except those that are one endpoint's word.
func (d *Directory) vouched(ctx context.Context, id chain.ID) map[chain.Address]Token {
	listed := map[chain.Address]Token{}
	if d.DirectoryOptions.Listed != nil {
		maps.Copy(listed, d.DirectoryOptions.Listed(ctx, id))
		maps.DeleteFunc(listed, func(_ chain.Address, t Token) bool { return t.IsSingle })
	}
	for key, t := range wellKnown() {
		if key.Chain == id {
			listed[key.Address] = t
		}
	}
	return listed
}

// metadata completes a contract's answer. Lists confirm or correct the word of a single endpoint.
func (d *Directory) metadata(key Key, said Reading, listed func() map[chain.Address]Token) metadata {
	r := metadata{Reading: said, token: Token{Name: said.Name, Symbol: said.Symbol, IsSingle: said.IsSingle}}
	if said.Decimals != nil {
		r.token.Decimals = *said.Decimals
	}
	longest := longestSingle
	if said.Decimals == nil {
		longest = silentFresh
		r.until = time.Now().Add(longest)
	}
	if said.IsSingle {
		before, _ := d.contracts.values.Get(key)
		r.fresh = min(max(singleFresh, 2*before.fresh), longest)
		r.until = time.Now().Add(r.fresh)
		switch t, is := listed()[key.Address]; {
		case !is:
		case said.Decimals == nil || *said.Decimals != t.Decimals || said.Name == "" || said.Symbol == "":
			r.token = Token{Decimals: t.Decimals, Name: t.Name, Symbol: t.Symbol}
		default:
			r.token.IsSingle = said.Symbol != t.Symbol
		}
	}
	r.token = d.complete(key, r.token)
	return r
}

// complete fills in what a token lacks, unless its address is absent.
func (d *Directory) complete(key Key, token Token) Token {
	if key.Address.IsAbsent() {
		return token
	}
	address := key.Address.Format(d.Registry.Family(key.Chain))
	if token.Symbol == "" {
		const head, tail = 6, 4 // of an address, as wallets show it
		token.Symbol = address
		if len(address) > head+tail {
			token.Symbol = address[:head] + "…" + address[len(address)-tail:]
		}
	}
	if token.Name == "" {
		token.Name = token.Symbol
	}
	if token.LogoURI == "" {
		token.LogoURI = logos + key.Chain.String() + "/" + address + logo
	}
	return token
}

// USD returns the price of one whole token for those of keys that any source knows: the median of the
// sources, all asked at once. A price is used for 30 s, and for 10 min when no source answers. Tokens
// without a price, or whose decimals are unknown since their chain is not read, are left out; that is never an error.
// The caller must not change the prices.
func (d *Directory) USD(ctx context.Context, keys ...Key) map[Key]*big.Rat {
	found := make(map[Key]*big.Rat, len(keys))
	if len(d.DirectoryOptions.Prices) == 0 {
		return found
	}
	// get fails only when ctx ends, and then returns the values known so far.
	prices, err := d.prices.get(ctx, keys, d.askPrices)
	if err != nil {
		for _, key := range keys {
			if last, known := d.prices.values.Get(key); known && last.isUsable() {
				prices[key] = last
			}
		}
	}
	for key, p := range prices {
		_, isOwn := d.Own[key]
		if t, isSettled := d.settled(key); p.usd != nil && (!isSettled || isOwn || t.Decimals > 0) {
			found[key] = p.usd
		}
	}
	return found
}
