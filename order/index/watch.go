package index

import (
	"context"
	"time"

	"crossgate/chain"
	"crossgate/store"
)

// watchStore learns how far the replica that follows the chain has come, and reports whether that is known.
func (f *follower) watchStore(ctx context.Context) bool {
	f.sync.pace(store.LeaseInterval)
	position, known, err := f.store.checkpoint(ctx, f.chain)
	if err != nil || !known {
		return false
	}
	if f.sync.moved(position, chain.Hash{}) {
		f.observer.BranchChanged(f.chain)
	}
	f.sync.overtaken(position.block)
	if f.hold(ctx, position) != nil {
		return false
	}
	return f.learnQuarantined(ctx) == nil
}

// rarely is how often a chain that nobody asks about is compared with what is stored while the one that follows it
// keeps up: for the finalized block, and for reorgs that it does not see.
const rarely = 10 * time.Minute

// untilWatch is how long to wait after a look at the chain. As long as nobody asks about it, blocks that are stored
// soon after they were made say as much as its head does.
func (f *follower) untilWatch() time.Duration {
	const patience = 3 // looks of the other replica that may be missed
	asked := f.demand.now()
	every := f.paces.Of(f.facts, asked)
	if asked == Unasked && f.sync.isCurrent(patience*every+f.facts.BlockTime) {
		return max(every, rarely)
	}
	return every
}

// watch compares that with the chain.
func (f *follower) watch(ctx context.Context) {
	if !f.watchStore(ctx) {
		return
	}
	f.lookedAt = time.Now()
	head, err := f.readHead(ctx)
	if err != nil {
		return
	}
	kept, found, err := f.store.keptBlock(ctx, f.chain, head.Latest.Number+1)
	if err != nil || !found {
		return
	}
	hash, err := f.canonical(ctx, kept.number, head)
	if err != nil {
		return
	}
	if hash != kept.hash {
		f.doubtSince(head, 0)
		f.holdAgain()
		return
	}
	f.sync.accept(head)
	if kept == (keptBlock{head.Latest.Number, head.Latest.Hash}) {
		f.sync.levelAsOf(f.lookedAt)
	}
}
