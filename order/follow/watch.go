package follow

import (
	"context"
	"time"

	"crossgate/store"
)

// watchStore reads how far the replica that follows the chain has come, and reports whether that is known.
func (f *Follower) watchStore(ctx context.Context) bool {
	f.update(func(is *State) { is.every = store.LeaseInterval })
	position, known, err := f.Ledger.Checkpoint(ctx, f.ID)
	if err != nil || !known {
		return false
	}
	if f.moved(position) {
		f.Observer.BranchChanged(f.ID)
	}
	f.update(func(is *State) { is.overtaken(position.Block) })
	if err := f.Hold(ctx, position); err != nil {
		f.stopFor(ctx, err)
		return false
	}
	return f.learnQuarantined(ctx) == nil
}

// rarely is how often a chain that is not asked about is compared with the store while its follower keeps up: for the
// finalized block, and for reorgs that the follower does not see.
const rarely = 10 * time.Minute

// untilWatch returns how long to wait after a poll of the chain. While the chain is not asked about, blocks stored soon
// after they were made say as much as its head does.
func (f *Follower) untilWatch() time.Duration {
	const patience = 3 // polls by the other replica that may be missed
	asked := f.Demand.now()
	every := f.Paces.Of(f.Chain.Chain, asked)
	s := f.State()
	isCurrent := s.Head.Number > 0 && time.Since(time.Unix(int64(s.Position.BlockTime), 0)) <= patience*every+f.BlockTime
	if asked == Unasked && isCurrent {
		return max(every, rarely)
	}
	return every
}

// Watch compares the state in the store with the chain.
func (f *Follower) Watch(ctx context.Context) {
	if !f.watchStore(ctx) {
		return
	}
	f.lookedAt = time.Now()
	head, err := f.readHead(ctx)
	if err != nil {
		return
	}
	last := f.last
	f.last = look{f.lookedAt, head.Latest.Number}
	kept, found, err := f.Ledger.KeptBlock(ctx, f.ID, head.Latest.Number+1)
	if err != nil || !found {
		return
	}
	hash, err := f.canonical(ctx, kept.Number, head)
	if err != nil {
		return
	}
	if hash != kept.Hash {
		f.doubtSince(head, 0)
		f.HoldAgain()
		return
	}
	f.accept(head)
	switch {
	case kept.Number == head.Latest.Number:
		f.levelAsOf(f.lookedAt)
	case kept.Number >= last.head && last.at.After(f.State().Level): // a fast chain has a newer block at each poll
		f.levelAsOf(last.at)
	}
}

// look is a poll of a chain: when it began, and the number of the head.
type look struct {
	at   time.Time
	head uint64
}
