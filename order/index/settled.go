package index

import (
	"context"
	"slices"

	"crossgate/chain"
	"crossgate/order"
)

// Settled reports whether no reorg can take back any event of an order: all of them are in blocks that
// their chains have told to be final. What follows on them is another question.
func (x *Index) Settled(o *order.Order) bool {
	return x.isFinal(o.Terms.Give.Chain, o.GiveBlock) && x.isFinal(o.Terms.Take.Chain, o.TakeBlock)
}

// Unread lists the chains that told of an order what the index has not read: events in blocks that are neither final
// nor stored. When a reorg drops such a block, the index does not know that there was one.
func (x *Index) Unread(ctx context.Context, o *order.Order) []chain.ID {
	var chains []chain.ID
	for _, side := range []struct {
		chain  chain.ID
		newest uint64
	}{{o.Terms.Give.Chain, o.GiveBlock}, {o.Terms.Take.Chain, o.TakeBlock}} {
		if !x.hasRead(ctx, o, side.chain, side.newest) && !slices.Contains(chains, side.chain) {
			chains = append(chains, side.chain)
		}
	}
	return chains
}

// hasRead reports whether one chain's blocks with events of an order were read, as far as they are not final. Of an
// event that is no step only the block's number is known, which is not enough.
func (x *Index) hasRead(ctx context.Context, o *order.Order, id chain.ID, newest uint64) bool {
	if x.isFinal(id, newest) {
		return true
	}
	var read []keptBlock
	for _, at := range o.Steps() {
		block := keptBlock{at.Block, at.BlockHash}
		if at.Chain != id || x.isFinal(id, at.Block) || slices.Contains(read, block) {
			continue
		}
		if kept, err := x.store.keeps(ctx, id, block); err != nil || !kept {
			return false // a store that is away does not know
		}
		read = append(read, block)
	}
	return slices.ContainsFunc(read, func(b keptBlock) bool { return b.number == newest })
}

// isFinal is true for no block at all, which is zero.
func (x *Index) isFinal(id chain.ID, block uint64) bool {
	if block == 0 {
		return true
	}
	f, followed := x.byChain[id]
	return followed && f.isFinal(block)
}
