package index

import (
	"slices"
	"time"

	"crossgate/chain"
	"crossgate/order"
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

// By returns how old the stored image of the chain is: what happened longer ago is in it.
func (l Lag) By(now time.Time) time.Duration {
	asOf := l.Level
	if indexed := time.Unix(int64(l.IndexedTime), 0); indexed.After(asOf) {
		asOf = indexed
	}
	return max(now.Sub(asOf), 0)
}

// basis is what an answer about the chain would be read from now.
func (f *follower) basis() ChainBasis {
	f.mu.Lock()
	defer f.mu.Unlock()
	lag := Lag{Head: max(f.head.Number, f.seenTo), Indexed: f.position.block, IndexedTime: f.position.blockTime, Level: f.levelAt}
	b := ChainBasis{Chain: f.chain, Followed: true, Lag: lag, Hash: f.hash, Epoch: f.epoch}
	if every := f.paces.Of(f.facts, f.demand.now()); every > f.paces.Asked {
		b.Every = every
	}
	b.From = BlockTime{f.position.first, f.position.firstTime}
	b.Proven = f.provenTo(f.position, f.finalized)
	if b.Quarantined.Count = len(f.left); len(f.left) > 0 {
		b.Quarantined.First = f.left[0].Number
	}
	return b
}

// provenTo returns up to which block the chain is proven from the first block that was read on. What is final counts
// as proven where blocks cannot be read a second time.
func (f *follower) provenTo(position checkpoint, finalized uint64) uint64 {
	if _, can := f.source.(order.Verifier); !can {
		return min(finalized, position.block)
	}
	if position.provenEnd > position.provenFrom && position.provenFrom <= position.first {
		return position.provenEnd - 1
	}
	return 0
}

// moved takes note of the checkpoint and its block's hash, absent where the checkpoint was read from the store. It
// reports whether blocks were withdrawn since the checkpoint before.
func (f *follower) moved(position checkpoint, hash chain.Hash) (withdrawn bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	withdrawn = f.begun && position.reorgs != f.position.reorgs
	if hash.IsAbsent() && !withdrawn && position.block == f.position.block {
		hash = f.hash
	}
	f.position, f.hash, f.begun = position, hash, true
	return withdrawn
}

// isFinal reports whether a block is known to be past any reorg.
func (f *follower) isFinal(number uint64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return number <= f.finalized
}

func (f *follower) levelNow() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.levelAt = time.Now()
	f.endDoubt()
}

func (f *follower) pace(every time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.every = every
}

// covers reports whether the store holds all events of the chain since a time, UNIX seconds: following
// began before it, the follower was level with the chain's head just now, and no block is left out that may be newer.
func (f *follower) covers(since uint64) bool {
	const patience = 3 // looks that may be missed
	f.mu.Lock()
	defer f.mu.Unlock()
	every := f.every
	if time.Until(f.announced.quietUntil(f.head)) > 0 {
		every = max(every, f.announced.every)
	}
	leftOut := func(b QuarantinedBlock) bool { return b.notAfter >= since }
	return f.begun && !slices.ContainsFunc(f.left, leftOut) && (f.position.firstTime <= since || f.position.first == 0) && f.doubt == nil &&
		!f.levelAt.IsZero() && time.Since(f.levelAt) <= patience*every
}

func (f *follower) hasBegun() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.begun
}
