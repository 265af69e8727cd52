package index

import (
	"context"
	"time"

	"crossgate/chain"
	"crossgate/store"
)

// watchStore learns how far the replica that follows the chain has come, and reports whether that is known.
func (f *follower) watchStore(ctx context.Context) bool {
	f.pace(store.LeaseInterval)
	position, known, err := f.store.checkpoint(ctx, f.chain)
	if err != nil || !known {
		return false
	}
	if f.moved(position, chain.Hash{}) {
		f.observer.BranchChanged(f.chain)
	}
	return f.learnQuarantined(ctx) == nil
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
		return
	}
	f.accept(head)
	if kept == (keptBlock{head.Latest.Number, head.Latest.Hash}) {
		f.levelNow()
	}
}
