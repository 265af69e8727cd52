package query

import (
	"context"
	"slices"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/ledger"
)

// Basis returns the basis of an answer about all chains that is read from now on.
func (x *Index) Basis() order.Basis {
	b := order.Basis{At: time.Now(), All: true, Chains: make([]order.ChainBasis, len(x.Followers)), Behind: x.Behind}
	for i, f := range x.Followers {
		b.Chains[i] = f.Basis()
	}
	return b
}

// found returns orders that were read on a basis, each with the part that concerns its two chains.
func (x *Index) found(ctx context.Context, on order.Basis, from provenance, orders ...*order.Order) []Found {
	var places []order.At
	for _, o := range orders {
		if from.stored {
			places = append(places, o.Steps()...)
		}
	}
	found, kept := make([]Found, len(orders)), x.keptAt(ctx, places...)
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

// placed returns the part of a basis that concerns one event; kept has its block if that was read but is not final.
func (x *Index) placed(on order.Basis, at order.At, kept map[ledger.ChainBlock]bool) order.Basis {
	c := on.Of(at.Chain)
	c.Final = x.isFinal(at.Chain, at.Block)
	c.Unread = !c.Final && !kept[blockAt(at)]
	return order.Basis{At: on.At, Behind: on.Behind, Chains: []order.ChainBasis{c}}
}

// keptAt returns the non-final blocks of events that the index has read.
func (x *Index) keptAt(ctx context.Context, places ...order.At) map[ledger.ChainBlock]bool {
	var moving []ledger.ChainBlock
	for _, at := range places {
		if block := blockAt(at); !x.isFinal(at.Chain, at.Block) && !slices.Contains(moving, block) {
			moving = append(moving, block)
		}
	}
	kept, _ := x.store.Known(ctx, moving) // none while the store is unavailable
	return kept
}

func blockAt(at order.At) ledger.ChainBlock {
	return ledger.ChainBlock{Chain: at.Chain, Block: ledger.Block{Number: at.Block, Hash: at.BlockHash}}
}

// hasRead reports whether all of an order's blocks on one chain were read or are final. For an event that is not a step
// only the block number is known, which is not enough to say that it was read.
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

// isProven reports whether a second reading confirmed the final block of an event that was read.
func (x *Index) isProven(at order.At) bool {
	f := x.Of(at.Chain)
	if f == nil {
		return false
	}
	read := f.Basis()
	return read.From.Number <= at.Block && at.Block <= read.Proven
}

// isFinal reports whether a block is final; true for 0, the absence of a block.
func (x *Index) isFinal(id chain.ID, block uint64) bool {
	if block == 0 {
		return true
	}
	f := x.Of(id)
	return f != nil && f.State().IsFinal(block)
}
