package sandbox

import (
	"fmt"

	"crossgate/chain"
)

// Place is what all chains of the world have, whatever runs them.
type Place struct {
	// Facts are the real chain's: its ids, its coin and the addresses of the protocol's contracts.
	Facts  chain.Chain
	Tokens []Token // the wrapped coin first
	// RPC is the URL of its JSON-RPC endpoint, faults included.
	RPC string

	coinUSD float64 // what the coin was worth when the pools were filled
}

// places are all chains of the world, Solana last.
func (w *World) places() (all []*Place) {
	for _, c := range w.chains {
		all = append(all, &c.Place)
	}
	return append(all, &w.solana.Place)
}

// place is the chain with an id.
func (w *World) place(id chain.ID) (*Place, error) {
	for _, p := range w.places() {
		if p.Facts.ID == id {
			return p, nil
		}
	}
	return nil, fmt.Errorf("chain %s is not in the sandbox", id)
}

// coin is the native coin as orders spell it: the zero address.
func (p *Place) coin() Token {
	return Token{
		Chain: p.Facts.ID, Symbol: p.Facts.Coin.Symbol, Name: p.Facts.Coin.Name,
		Decimals: int(p.Facts.Coin.Decimals), USD: p.coinUSD,
	}
}

// withCoin are the tokens behind the coin.
func (p *Place) withCoin() []Token { return append([]Token{p.coin()}, p.Tokens...) }

// token returns the token with a symbol; asking for one that does not exist is a mistake of the caller's source.
func (p *Place) token(symbol string) Token {
	for _, t := range p.Tokens {
		if t.Symbol == symbol {
			return t
		}
	}
	panic(fmt.Sprintf("chain %s has no token %s", p.Facts.ID, symbol))
}
