package token

import (
	"bytes"
	"slices"

	"crossgate/chain"
)

// Listed returns the vetted tokens of a chain, by ascending address: its coin, the wrapped coin, and the
// operator's list. What contracts say about themselves is no reason to be listed.
func (d *Directory) Listed(id chain.ID) []chain.Address {
	var listed []chain.Address
	if c, registered := d.registry.Chain(id); registered {
		listed = append(listed, chain.NativeCoin(c.Family))
		if !c.WrappedCoin.IsAbsent() {
			listed = append(listed, c.WrappedCoin)
		}
	}
	for key := range d.own {
		if key.Chain == id {
			listed = append(listed, key.Address)
		}
	}
	slices.SortFunc(listed, func(a, b chain.Address) int { return bytes.Compare(a.Bytes(), b.Bytes()) })
	return slices.Compact(listed)
}
