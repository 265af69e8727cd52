package sandbox

import (
	"fmt"

	"crossgate/chain"
)

// Place is what all chains of the world have in common, whatever they run on.
type Place struct {
	// Facts describe the real chain: its IDs, its coin and the addresses of the protocol's contracts.
	Facts  chain.Chain
	Tokens []Token // the wrapped coin first
	// RPC is the URL of its JSON-RPC endpoint, subject to faults.
	RPC string

	coinUSD float64 // what the coin was worth when the pools were filled
}

// places returns all chains of the world, Solana last.
func (w *World) places() (all []*Place) {
	for _, c := range w.chains {
		all = append(all, &c.Place)
	}
	return append(all, &w.solana.Place)
}

// place returns the chain with an ID.
func (w *World) place(id chain.ID) (*Place, error) {
	for _, p := range w.places() {
		if p.Facts.ID == id {
			return p, nil
		}
	}
	return nil, fmt.Errorf("chain %s is not in the sandbox", id)
}

// coin returns the native coin, which orders identify by the zero address.
func (p *Place) coin() Token {
	return Token{
		Chain: p.Facts.ID, Symbol: p.Facts.Coin.Symbol, Name: p.Facts.Coin.Name,
		Decimals: int(p.Facts.Coin.Decimals), USD: p.coinUSD,
	}
}

// withCoin returns the coin followed by the tokens.
func (p *Place) withCoin() []Token { return append([]Token{p.coin()}, p.Tokens...) }

// token returns the token with a symbol and panics if there is none.
func (p *Place) token(symbol string) Token {
	for _, t := range p.Tokens {
		if t.Symbol == symbol {
			return t
		}
	}
	panic(fmt.Sprintf("chain %s has no token %s", p.Facts.ID, symbol))
}
