package wire

import (
	"cmp"

	"crossgate/chain"
)

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
