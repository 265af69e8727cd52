package wire

import (
	"cmp"

	"crossgate/chain"
	"crossgate/token"
)

// AppendTokens appends a chain's token list, keyed by address.
func (e Encoder) AppendTokens(dst []byte, id chain.ID, tokens []token.Listing) []byte {
	family := e.Chains.Family(id)
	return e.object(dst, func(w *writer) {
		w.name("tokens").open('{')
		for _, t := range tokens {
			w.name(t.Address.Format(family)).open('{')
			w.listedToken(t, family)
			w.close('}')
		}
		w.close('}')
	})
}

// AppendFoundTokens appends tokens of any chains, best match first.
func (e Encoder) AppendFoundTokens(dst []byte, tokens []token.Listing) []byte {
	return e.object(dst, func(w *writer) {
		objects(w.name("tokens"), tokens, func(t token.Listing) {
			w.name("chainId").uint(uint64(t.Chain))
			w.listedToken(t, e.Chains.Family(t.Chain))
		})
	})
}

// listedToken writes a token as in token lists. A live answer had the last two members for a coin; whether a contract
// supports signed permits is not known here.
func (w *writer) listedToken(t token.Listing, family chain.Family) {
	w.name("symbol").text(t.Symbol)
	w.name("name").text(t.Name)
	w.name("decimals").uint(uint64(t.Decimals))
	w.name("address").plain(t.Address.Format(family))
	w.name("logoURI").text(t.LogoURI)
	list[string](w.name("tags"), nil, w.text)
	if t.Address.IsNative() {
		w.name("eip2612").bool(false)
		w.name("isNative").bool(true)
	}
}

// AppendChainIDs appends the ids of the chains on which swaps are supported.
func (e Encoder) AppendChainIDs(dst []byte, chains []chain.Chain) []byte {
	return e.object(dst, func(w *writer) {
		list(w.name("chains"), chains, func(c chain.Chain) { w.uint(uint64(c.ID)) })
	})
}

// AppendChains appends the chains on which swaps are supported. Solana's only id is that of the API.
func (e Encoder) AppendChains(dst []byte, chains []chain.Chain) []byte {
	return e.object(dst, func(w *writer) {
		objects(w.name("chains"), chains, func(c chain.Chain) {
			w.name("chainId").uint(uint64(c.ID))
			w.name("originalChainId").uint(cmp.Or(c.Native, uint64(c.ID)))
			w.name("chainName").text(cmp.Or(c.Listed, c.Name))
		})
	})
}
