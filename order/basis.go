package order

import (
	"cmp"
	"slices"
	"sync/atomic"
	"time"

	"crossgate/chain"
)

// Lag describes how far a chain's follower is behind its chain.
type Lag struct {
	Head        uint64    // newest block that the chain reported; 0 before the first answer
	Indexed     uint64    // newest block whose events are stored
	IndexedTime uint64    // time of block Indexed, UNIX seconds
	Level       time.Time // when the store last held everything that the chain had; zero: never since the start
}

// HasBegun reports whether any of the chain's blocks were read.
func (l Lag) HasBegun() bool { return l.IndexedTime != 0 || !l.Level.IsZero() }

// By returns the age of the stored image of the chain: it includes all events older than that. A block from the future
// says that the clock of this host is behind, and nothing about the age.
func (l Lag) By(now time.Time) time.Duration {
	asOf := l.Level
	if indexed := time.Unix(int64(l.IndexedTime), 0); indexed.After(asOf) && (asOf.IsZero() || !indexed.After(now)) {
		asOf = indexed
	}
	return max(now.Sub(asOf), 0)
}

// BlockTime is the number and time of a block.
type BlockTime struct {
	Number uint64
	Time   uint64 // UNIX seconds
}

// Epoch is the time between two heads of a chain. The zero value is the epoch before the first head.
type Epoch struct {
	Began time.Time
	ended atomic.Bool
}

// End records that the chain has a new head, or that its head is no longer read.
func (e *Epoch) End() { e.ended.Store(true) }

// HasEnded reports whether the epoch has ended; false for nil, an unknown epoch.
func (e *Epoch) HasEnded() bool { return e != nil && e.ended.Load() }

// QuarantinedBlocks counts the blocks of a chain that no endpoint returned complete and consistent.
type QuarantinedBlocks struct {
	Count int
	First uint64 // number of the oldest; 0 if there are none
}

// Basis is the state of the index that an answer rests on. It is taken before anything is read, so the answer is at
// least as fresh as its basis. A cache stores the basis with the answer and calls Holds before serving it again; a
// follow.Observer learns of other reasons to drop cached answers. See docs/decisions/0020-basis.md for the whole rule.
type Basis struct {
	At     time.Time     // when the reading began
	All    bool          // the answer is about all followed chains, and Chains lists them all
	Chains []ChainBasis  // ascending by chain
	Behind time.Duration // lag above which a chain counts as behind
}

// ChainBasis is the part of a basis that concerns one chain.
type ChainBasis struct {
	Chain    chain.ID
	Followed bool // if false, nothing below is known
	Lag
	From   BlockTime // where the chain's history begins in the index; block 0 if the index has all of it
	Proven uint64    // newest block that, from From on, a second reading or the blocks themselves confirm
	Final  bool      // no reorg can change the answer's part on this chain
	Single bool      // a single endpoint reported something that the answer rests on
	Unread bool      // part of the answer is from blocks neither final nor indexed: it is valid until Epoch ends
	Epoch  *Epoch    // of the chain when the reading began
	// Every is the polling interval of a chain in low demand, 0 for any other: the lag may be larger by
	// that much before the chain counts as behind.
	Every time.Duration

	Stale       uint64            // time of the newest known block, UNIX seconds, if too old when it was read; else 0
	Stopped     string            // why the chain is not read until an operator decides; empty: it is read
	Quarantined QuarantinedBlocks // unread blocks between From and Indexed
	Unsearched  BlockRange        // blocks that may hold more of the answer's orders but that no endpoint could search
}

// Age returns the age of the stored image of the chain. It is like By, except that it ignores Level if the head is
// stale: then reaching the head says nothing about the chain's present.
func (c *ChainBasis) Age(now time.Time) time.Duration {
	if c.Stale > 0 {
		return max(now.Sub(time.Unix(int64(c.IndexedTime), 0)), 0)
	}
	return c.By(now)
}

// BlockRange is a range of blocks, both ends included; empty if To is zero.
type BlockRange struct{ From, To uint64 }

// And returns the range from the first to the last block of both ranges.
func (r BlockRange) And(other BlockRange) BlockRange {
	switch {
	case r.To == 0:
		return other
	case other.To == 0:
		return r
	}
	return BlockRange{min(r.From, other.From), max(r.To, other.To)}
}

// Holds reports whether the answer survived all new heads. A block that the index has not read may have been dropped
// unnoticed, so anything read from such blocks is valid only until the chain's next head.
func (b Basis) Holds() bool {
	for i := range b.Chains {
		if c := &b.Chains[i]; c.Unread && c.Epoch.HasEnded() {
			return false
		}
	}
	return true
}

// IsBehind reports whether lag is too large for the chain of c.
func (b Basis) IsBehind(c *ChainBasis, lag time.Duration) bool { return lag > b.Behind+c.Every }

// IsFinal reports whether no reorg can make the answer wrong.
func (b Basis) IsFinal() bool {
	return !b.All && !slices.ContainsFunc(b.Chains, func(c ChainBasis) bool { return !c.Final })
}

// And returns the basis of an answer that rests on both: the weaker one of each chain.
func (b Basis) And(other Basis) Basis {
	b.Chains = Merge(slices.Concat(b.Chains, other.Chains))
	return b
}

// On converts the basis of an answer that another replica loaded for use on this replica, whose own basis is now. It
// takes over this replica's epoch of each chain, or an ended one if that began after the answer was read.
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

// Of returns the part of the basis that concerns one chain.
func (b Basis) Of(id chain.ID) ChainBasis {
	at := slices.IndexFunc(b.Chains, func(c ChainBasis) bool { return c.Chain == id })
	if at < 0 {
		return ChainBasis{Chain: id}
	}
	return b.Chains[at]
}

// Merge combines the entries of each chain into its weakest. It reuses the slice and returns it sorted by chain.
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

// Change identifies an order or swap that was stored, extended or withdrawn: answers about it are out of date.
type Change struct {
	Order    ID            // or the swap's
	Creation chain.TxHash  `json:",omitzero"` // absent if it was not seen; for a swap the transaction that made it
	Taker    chain.Address `json:",omitzero"` // unlock authority; absent before delivery
}

// Delivery is a taker's delivery on an order: its time, and its pay.
type Delivery struct {
	At    uint64       // UNIX seconds
	Give  chain.Amount // the taker's pay, in smallest units of the give token
	State State
}
