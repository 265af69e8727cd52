package order

import (
	"cmp"
	"slices"
	"sync/atomic"
	"time"

	"crossgate/chain"
)

// Lag is how far a chain's follower is behind its chain.
type Lag struct {
	Head        uint64    // newest block that the chain reported; 0 before the first answer
	Indexed     uint64    // newest block whose events are stored
	IndexedTime uint64    // its time, UNIX seconds
	Level       time.Time // when the store last held everything that the chain had; zero: not since the start
}

// HasBegun reports whether anything of the chain was read.
func (l Lag) HasBegun() bool { return l.IndexedTime != 0 || !l.Level.IsZero() }

// By returns how old the stored image of the chain is: events before that are in it.
func (l Lag) By(now time.Time) time.Duration {
	asOf := l.Level
	if indexed := time.Unix(int64(l.IndexedTime), 0); indexed.After(asOf) {
		asOf = indexed
	}
	return max(now.Sub(asOf), 0)
}

// BlockTime is a block's place and time.
type BlockTime struct {
	Number uint64
	Time   uint64 // UNIX seconds
}

// Epoch is the time between two heads of a chain. The zero value is that before the first head.
type Epoch struct {
	Began time.Time
	ended atomic.Bool
}

// End says that the chain has a new head, or that its heads are not read any more.
func (e *Epoch) End() { e.ended.Store(true) }

// HasEnded is false for an unknown epoch, which is nil.
func (e *Epoch) HasEnded() bool { return e != nil && e.ended.Load() }

// QuarantinedBlocks are the blocks of a chain that no endpoint could give as they must be.
type QuarantinedBlocks struct {
	Count int
	First uint64 // number of the oldest; 0 without any
}

// Basis is the state of the index behind an answer. It is taken before anything is read, so the answer is at least as
// fresh as it says. A cache keeps the basis with the answer and asks Holds before serving it again; other reasons to
// end kept answers go to Options.Observer. docs/decisions/0020-basis.md has the whole rule.
type Basis struct {
	At     time.Time     // when the reading began
	All    bool          // the answer is about all chains that are followed, which are listed
	Chains []ChainBasis  // ascending
	Behind time.Duration // lag from which a chain counts as behind
}

// ChainBasis is the part of a basis on one chain.
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
	// Every is the time between two looks at a chain that is rarely asked about, 0 at any other: its
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

// And is the range from the first to the last block of both.
func (r BlockRange) And(other BlockRange) BlockRange {
	switch {
	case r.To == 0:
		return other
	case other.To == 0:
		return r
	}
	return BlockRange{min(r.From, other.From), max(r.To, other.To)}
}

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

// And is the basis of an answer that rests on both: the weaker of each chain.
func (b Basis) And(other Basis) Basis {
	b.Chains = Merge(slices.Concat(b.Chains, other.Chains))
	return b
}

// On is the basis, on this replica whose own is now, of an answer that another replica loaded: an epoch that began
// before the answer was read is the one that must not end.
func (b Basis) On(now Basis) Basis {
	b.Chains = slices.Clone(b.Chains)
	for i := range b.Chains {
		c := &b.Chains[i]
		c.Epoch = now.Of(c.Chain).Epoch
		if c.Epoch != nil && !c.Epoch.Began.Before(b.At) {
			c.Epoch = new(Epoch)
			c.Epoch.End()
		}
	}
	return b
}

// Of is what an answer rests on at one chain.
func (b Basis) Of(id chain.ID) ChainBasis {
	at := slices.IndexFunc(b.Chains, func(c ChainBasis) bool { return c.Chain == id })
	if at < 0 {
		return ChainBasis{Chain: id}
	}
	return b.Chains[at]
}

// Merge makes one of all that is said of each chain.
func Merge(chains []ChainBasis) []ChainBasis {
	slices.SortFunc(chains, func(a, b ChainBasis) int { return cmp.Compare(a.Chain, b.Chain) })
	merged := chains[:0]
	for _, c := range chains {
		if last := len(merged) - 1; last >= 0 && merged[last].Chain == c.Chain {
			merged[last].Single = merged[last].Single || c.Single
			merged[last].Final, merged[last].Unread = merged[last].Final && c.Final, merged[last].Unread || c.Unread
			merged[last].Unsearched = merged[last].Unsearched.And(c.Unsearched)
			continue
		}
		merged = append(merged, c)
	}
	return merged
}

// Change is an order or a swap about which something new was stored, or something withdrawn: answers
// about it are out of date.
type Change struct {
	Order    ID            // or the swap's
	Creation chain.TxHash  `json:",omitzero"` // absent when it was not seen; of a swap the transaction that made it
	Taker    chain.Address `json:",omitzero"` // unlock authority; absent before delivery
}

// Delivery is what a taker delivered on an order for, and when.
type Delivery struct {
	At    uint64       // UNIX seconds
	Give  chain.Amount // the taker's pay, smallest units of the give token
	State State
}
