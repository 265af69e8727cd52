package query

import (
	"context"
	"slices"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/ledger"
)

// Basis returns what an answer about everything would be read from now.
func (x *Index) Basis() order.Basis {
	b := order.Basis{At: time.Now(), All: true, Chains: make([]order.ChainBasis, len(x.Followers)), Behind: x.Behind}
	for i, f := range x.Followers {
		b.Chains[i] = f.Basis()
	}
	return b
}

// found gives orders that were read on a basis their part of it: the two chains of each.
func (x *Index) found(ctx context.Context, on order.Basis, from provenance, orders ...*order.Order) []Found {
	found, kept := make([]Found, len(orders)), x.keptOf(ctx, from, orders)
	for i, o := range orders {
		x.AskedAbout(o.Terms.Give.Chain, o.Terms.Take.Chain)
		give, take := on.Of(o.Terms.Give.Chain), on.Of(o.Terms.Take.Chain)
		give.Final, give.Unread = x.isFinal(give.Chain, o.GiveBlock), !x.hasRead(kept, o, give.Chain, o.GiveBlock)
		take.Final, take.Unread = x.isFinal(take.Chain, o.TakeBlock), !x.hasRead(kept, o, take.Chain, o.TakeBlock)
		give.Single = give.Single || slices.Contains(o.Single, give.Chain)
		take.Single = take.Single || slices.Contains(o.Single, take.Chain)
		for _, gap := range o.Gaps {
			for _, on := range []*order.ChainBasis{&give, &take} {
				if on.Chain == gap.Chain {
					on.Final, on.Unread, on.Unsearched = false, true, on.Unsearched.And(order.BlockRange{From: gap.From, To: gap.To})
				}
			}
		}
		found[i] = Found{o, order.Basis{At: on.At, Behind: on.Behind, Chains: order.Merge([]order.ChainBasis{give, take})}}
	}
	return found
}

// keptOf returns which blocks with steps of orders were read, of those that are not final. A store that could not be
// read, or cannot now, knows of none.
func (x *Index) keptOf(ctx context.Context, from provenance, orders []*order.Order) map[ledger.ChainBlock]bool {
	if !from.stored {
		return nil
	}
	var places []order.At
	for _, o := range orders {
		places = append(places, o.Steps()...)
	}
	return x.keptAt(ctx, places...)
}

// placed is the part of a basis on a reading at a place; kept has its block where that is not final and was read.
func (x *Index) placed(on order.Basis, at order.At, kept map[ledger.ChainBlock]bool) order.Basis {
	c := on.Of(at.Chain)
	c.Final = x.isFinal(at.Chain, at.Block)
	c.Unread = !c.Final && !kept[blockAt(at)]
	return order.Basis{At: on.At, Behind: on.Behind, Chains: []order.ChainBasis{c}}
}

// keptAt returns those of some places' blocks that were read, of those that are not final.
func (x *Index) keptAt(ctx context.Context, places ...order.At) map[ledger.ChainBlock]bool {
	var moving []ledger.ChainBlock
	for _, at := range places {
		if block := blockAt(at); !x.isFinal(at.Chain, at.Block) && !slices.Contains(moving, block) {
			moving = append(moving, block)
		}
	}
	kept, _ := x.store.Known(ctx, moving) // none while the store does not answer
	return kept
}

func blockAt(at order.At) ledger.ChainBlock {
	return ledger.ChainBlock{Chain: at.Chain, Block: ledger.Block{Number: at.Block, Hash: at.BlockHash}}
}

// hasRead reports whether one chain's blocks with events of an order are final or among those that were read. Of an
// event that is not a step only the block's number is known, which is not enough.
func (x *Index) hasRead(kept map[ledger.ChainBlock]bool, o *order.Order, id chain.ID, newest uint64) bool {
	if x.isFinal(id, newest) {
		return true
	}
	hasNewest := false
	for _, at := range o.Steps() {
		if at.Chain != id || x.isFinal(id, at.Block) {
			continue
		}
		if !kept[blockAt(at)] {
			return false
		}
		hasNewest = hasNewest || at.Block == newest
	}
	return hasNewest
}

// isFinal is true for no block at all, which is zero.
func (x *Index) isFinal(id chain.ID, block uint64) bool {
	if block == 0 {
		return true
	}
	f := x.Of(id)
	return f != nil && f.State().IsFinal(block)
}
