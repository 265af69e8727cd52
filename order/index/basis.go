package index

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"
	"time"

	"crossgate/chain"
	"crossgate/order"
)

// Basis is what an answer was read from. It is taken before anything is read, so the answer is at least as fresh as
// it says. Whoever keeps the answer keeps its basis with it and asks Holds before serving it again; what else ends
// kept answers is reported to Options.Observer. docs/decisions/0020-basis.md has the whole rule.
type Basis struct {
	At     time.Time     // when the reading began
	All    bool          // the answer is about all chains that are followed, which are listed
	Chains []ChainBasis  // ascending
	Behind time.Duration // lag from which a chain counts as behind
}

// ChainBasis is what an answer was read from on one chain.
type ChainBasis struct {
	Chain    chain.ID
	Followed bool // otherwise nothing below is known of it
	Lag
	From   BlockTime  // where the chain's history begins in the index; block 0 when all of it was read
	Proven uint64     // newest block up to which, from From on, a second reading or the blocks themselves confirm the first
	Hash   chain.Hash // of the block Indexed; absent until the first range after a start is stored
	Final  bool       // no reorg can take back what the answer says of this chain
	Single bool       // one endpoint alone reported something that the answer rests on
	Unread bool       // some of that is in blocks that are neither final nor indexed: good until Epoch ends
	Epoch  *Epoch     // of the chain when the reading began
	// Every is the time between two looks at a chain that hardly anybody asks about, 0 at one that is asked about: its
	// lag may be so much larger before it counts as behind.
	Every time.Duration

	Stale       uint64            // time of the newest block that is known, UNIX seconds, where that was too old when it was read; else 0
	Stopped     string            // why nothing is read of the chain until an operator decides; empty: it is read
	Quarantined QuarantinedBlocks // of the blocks from From to Indexed, those that were not read
	Unsearched  BlockRange        // blocks that may hold more of the orders in the answer, and that no endpoint could search
}

// Age is how old the stored image of the chain is: like By, but for a stale head, which says nothing of what the chain
// has now.
func (c *ChainBasis) Age(now time.Time) time.Duration {
	if c.Stale > 0 {
		return max(now.Sub(time.Unix(int64(c.IndexedTime), 0)), 0)
	}
	return c.By(now)
}

// BlockRange is a range of blocks, both ends included; empty while To is zero.
type BlockRange struct{ From, To uint64 }

// and is the range from the first to the last block of both.
func (r BlockRange) and(other BlockRange) BlockRange {
	switch {
	case r.To == 0:
		return other
	case other.To == 0:
		return r
	}
	return BlockRange{min(r.From, other.From), max(r.To, other.To)}
}

// QuarantinedBlocks are the blocks of a chain that no endpoint could give as they must be.
type QuarantinedBlocks struct {
	Count int
	First uint64 // number of the oldest; 0 without any
}

// BlockTime is a block's place and time.
type BlockTime struct {
	Number uint64
	Time   uint64 // UNIX seconds
}

// Epoch is the time between two heads of a chain. The zero value is that before the first head.
type Epoch struct {
	began time.Time
	ended atomic.Bool
}

// End says that the chain has a new head, or that nobody looks for one any more.
func (e *Epoch) End() { e.ended.Store(true) }

// HasEnded is false for an unknown epoch, which is nil.
func (e *Epoch) HasEnded() bool { return e != nil && e.ended.Load() }

// Holds reports whether no new head can have made the answer wrong: a block that the index has not read may have been
// dropped without the index ever learning of it, so what such blocks said ends with the chain's next head.
func (b Basis) Holds() bool {
	for i := range b.Chains {
		if c := &b.Chains[i]; c.Unread && c.Epoch.HasEnded() {
			return false
		}
	}
	return true
}

// IsBehind reports whether a lag of one of the chains is larger than it should be.
func (b Basis) IsBehind(c *ChainBasis, lag time.Duration) bool { return lag > b.Behind+c.Every }

// IsFinal reports whether no reorg can make the answer wrong.
func (b Basis) IsFinal() bool {
	return !b.All && !slices.ContainsFunc(b.Chains, func(c ChainBasis) bool { return !c.Final })
}

// And is the basis of an answer that rests on both: what is true of a chain in one of them only is not final, and
// unread.
func (b Basis) And(other Basis) Basis {
	b.Chains = merge(slices.Concat(b.Chains, other.Chains))
	return b
}

// On is the basis, on this replica whose own is now, of an answer that another replica loaded: an epoch that began
// before the answer was read is the one that must not end.
func (b Basis) On(now Basis) Basis {
	b.Chains = slices.Clone(b.Chains)
	for i := range b.Chains {
		c := &b.Chains[i]
		c.Epoch = now.of(c.Chain).Epoch
		if c.Epoch != nil && !c.Epoch.began.Before(b.At) {
			c.Epoch = new(Epoch)
			c.Epoch.End()
		}
	}
	return b
}

func (b Basis) of(id chain.ID) ChainBasis {
	at := slices.IndexFunc(b.Chains, func(c ChainBasis) bool { return c.Chain == id })
	if at < 0 {
		return ChainBasis{Chain: id}
	}
	return b.Chains[at]
}

// merge makes one of all that is said of each chain.
func merge(chains []ChainBasis) []ChainBasis {
	slices.SortFunc(chains, func(a, b ChainBasis) int { return cmp.Compare(a.Chain, b.Chain) })
	merged := chains[:0]
	for _, c := range chains {
		if last := len(merged) - 1; last >= 0 && merged[last].Chain == c.Chain {
			merged[last].Single = merged[last].Single || c.Single
			merged[last].Final, merged[last].Unread = merged[last].Final && c.Final, merged[last].Unread || c.Unread
			merged[last].Unsearched = merged[last].Unsearched.and(c.Unsearched)
			continue
		}
		merged = append(merged, c)
	}
	return merged
}

// Basis returns what an answer about everything would be read from now.
func (x *Index) Basis() Basis {
	b := Basis{At: time.Now(), All: true, Chains: make([]ChainBasis, len(x.followers)), Behind: x.options.Behind}
	for i, f := range x.followers {
		b.Chains[i] = f.basis()
	}
	return b
}

// found gives orders that were read on a basis their part of it: the two chains of each.
func (x *Index) found(ctx context.Context, on Basis, from provenance, orders ...*order.Order) []Found {
	found, kept := make([]Found, len(orders)), x.keptOf(ctx, from, orders)
	for i, o := range orders {
		x.AskedAbout(o.Terms.Give.Chain, o.Terms.Take.Chain)
		give, take := on.of(o.Terms.Give.Chain), on.of(o.Terms.Take.Chain)
		give.Final, give.Unread = x.isFinal(give.Chain, o.GiveBlock), !x.hasRead(kept, o, give.Chain, o.GiveBlock)
		take.Final, take.Unread = x.isFinal(take.Chain, o.TakeBlock), !x.hasRead(kept, o, take.Chain, o.TakeBlock)
		give.Single, take.Single = slices.Contains(o.Single, give.Chain), slices.Contains(o.Single, take.Chain)
		for _, gap := range o.Gaps {
			for _, on := range []*ChainBasis{&give, &take} {
				if on.Chain == gap.Chain {
					on.Final, on.Unread, on.Unsearched = false, true, on.Unsearched.and(BlockRange{gap.From, gap.To})
				}
			}
		}
		found[i] = Found{o, Basis{At: on.At, Behind: on.Behind, Chains: merge([]ChainBasis{give, take})}}
	}
	return found
}

// keptOf returns which blocks with steps of orders were read, of those that are not final. A store that could not be
// read, or cannot now, knows of none.
func (x *Index) keptOf(ctx context.Context, from provenance, orders []*order.Order) map[chainBlock]bool {
	if !from.stored {
		return nil
	}
	var moving []chainBlock
	for _, o := range orders {
		for _, at := range o.Steps() {
			block := blockAt(at)
			if !x.isFinal(at.Chain, at.Block) && !slices.Contains(moving, block) {
				moving = append(moving, block)
			}
		}
	}
	return x.keptAmong(ctx, moving)
}

// keptAmong returns those of some blocks that were read; none while the store does not answer.
func (x *Index) keptAmong(ctx context.Context, blocks []chainBlock) map[chainBlock]bool {
	kept, err := x.store.kept(ctx, blocks)
	if err != nil {
		return nil
	}
	return kept
}

func blockAt(at order.At) chainBlock { return chainBlock{at.Chain, keptBlock{at.Block, at.BlockHash}} }

// hasRead reports whether one chain's blocks with events of an order are final or among those that were read. Of an
// event that is no step only the block's number is known, which is not enough.
func (x *Index) hasRead(kept map[chainBlock]bool, o *order.Order, id chain.ID, newest uint64) bool {
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
	f, followed := x.byChain[id]
	return followed && f.sync.isFinal(block)
}
