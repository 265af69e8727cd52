package wire

import (
	"crossgate/chain"
	"crossgate/token"
)

// ListedToken is a token of a chain's list.
type ListedToken struct {
	Address chain.Address
	Token   token.Token
}

// AppendTokens appends a chain's token list, by address.
func (e Encoder) AppendTokens(dst []byte, id chain.ID, tokens []ListedToken) []byte {
	family := e.Chains.Family(id)
	return e.object(dst, func(w *writer) {
		w.name("tokens").open('{')
		for _, t := range tokens {
			address := t.Address.Format(family)
			w.name(address).open('{')
			w.name("symbol").text(t.Token.Symbol)
			w.name("name").text(t.Token.Name)
			w.name("decimals").uint(uint64(t.Token.Decimals))
			w.name("address").plain(address)
			w.name("logoURI").text(t.Token.LogoURI)
			list[string](w.name("tags"), nil, w.text)
			w.close('}')
		}
		w.close('}')
	})
}
