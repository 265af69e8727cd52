package wire

import "crossgate/chain"

// AppendChains appends the chains on which swaps are supported. Solana has no id but that of the API.
func (e Encoder) AppendChains(dst []byte, chains []chain.Chain) []byte {
	w := &writer{json: dst, chains: e.Chains}
	w.open('{')
	w.name("chains").open('[')
	for _, c := range chains {
		original := c.Native
		if original == 0 {
			original = uint64(c.ID)
		}
		w.element().open('{')
		w.name("chainId").uint(uint64(c.ID))
		w.name("originalChainId").uint(original)
		w.name("chainName").text(c.Name)
		w.close('}')
	}
	w.close(']')
	w.close('}')
	return w.json
}
