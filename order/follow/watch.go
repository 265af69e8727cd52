package follow

import (
	"context"
	"time"

	"crossgate/chain"
	"crossgate/order/ledger"
	"crossgate/store"
)

// watchStore learns how far the replica that follows the chain has come, and reports whether that is known.
func (f *Follower) watchStore(ctx context.Context) bool {
	f.pace(store.LeaseInterval)
	position, known, err := f.Ledger.Checkpoint(ctx, f.ID)
	if err != nil || !known {
		return false
	}
	if f.moved(position, chain.Hash{}) {
		f.Observer.BranchChanged(f.ID)
	}
	f.Overtaken(position.Block)
	if err := f.Hold(ctx, position); err != nil {
		f.stopFor(ctx, err)
		return false
	}
	return f.learnQuarantined(ctx) == nil
}

// Rarely is how often a chain that nobody asks about is compared with what is stored while the one that follows it
// keeps up: for the finalized block, and for reorgs that it does not see.
const Rarely = 10 * time.Minute

// UntilWatch is how long to wait after a look at the chain. As long as nobody asks about it, blocks that are stored
// soon after they were made say as much as its head does.
func (f *Follower) UntilWatch() time.Duration {
	const patience = 3 // looks of the other replica that may be missed
	asked := f.Demand.now()
	every := f.Paces.Of(f.Chain.Chain, asked)
	if asked == Unasked && f.isCurrent(patience*every+f.BlockTime) {
		return max(every, Rarely)
	}
	return every
}

// Watch compares that with the chain.
func (f *Follower) Watch(ctx context.Context) {
	if !f.watchStore(ctx) {
		return
	}
	f.lookedAt = time.Now()
	head, err := f.readHead(ctx)
	if err != nil {
		return
	}
	kept, found, err := f.Ledger.KeptBlock(ctx, f.ID, head.Latest.Number+1)
	if err != nil || !found {
		return
	}
	hash, err := f.canonical(ctx, kept.Number, head)
	if err != nil {
		return
	}
	if hash != kept.Hash {
		f.DoubtSince(head, 0)
		f.HoldAgain()
		return
	}
	f.Accept(head)
	if kept == (ledger.Block{Number: head.Latest.Number, Hash: head.Latest.Hash}) {
		f.levelAsOf(f.lookedAt)
	}
}
