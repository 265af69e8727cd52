package index

import (
	"crossgate/chain"
	"crossgate/order"
)

// Settled reports whether no reorg can take back any event of an order: all of them are in blocks that
// their chains have told to be final. What follows on them is another question.
func (x *Index) Settled(o *order.Order) bool {
	return x.isFinal(o.Terms.Give.Chain, o.GiveBlock) && x.isFinal(o.Terms.Take.Chain, o.TakeBlock)
}

// isFinal is true for no block at all, which is zero.
func (x *Index) isFinal(id chain.ID, block uint64) bool {
	if block == 0 {
		return true
	}
	f, followed := x.byChain[id]
	return followed && f.isFinal(block)
}
