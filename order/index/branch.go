package index

import (
	"context"
	"errors"
	"time"

	"crossgate/chain"
	"crossgate/order"
)

// doubtLimit is how long answers wait for the blocks of a reorg to be withdrawn.
const doubtLimit = 2 * time.Second

// errDoubt is why there is no answer about a chain.
var errDoubt = errors.New("a reorg has dropped blocks that could not be withdrawn yet")

// awaitWithdrawals returns when no chain is in doubt: when the blocks that a reorg has dropped, as a chain's head
// shows, are withdrawn. *UnreachableError when that takes too long. It does not wait for a store that is unavailable.
func (x *Index) awaitWithdrawals(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, doubtLimit, errDoubt)
	defer cancel()
	for _, f := range x.followers {
		for doubt := f.doubts(); doubt != nil && x.store.Available() == nil; doubt = f.doubts() {
			select {
			case <-doubt:
			case <-ctx.Done():
				if errors.Is(context.Cause(ctx), errDoubt) {
					return &UnreachableError{Chains: []chain.ID{f.chain}, Err: errDoubt}
				}
				return ctx.Err()
			}
		}
	}
	return nil
}

// view is what was known of a chain when it was asked.
type view struct {
	reorgs uint64     // that were carried out
	head   chain.Hash // newest block that the chain reported
}

func (f *follower) view() view {
	f.mu.Lock()
	defer f.mu.Unlock()
	return view{f.position.reorgs, f.newest}
}

// doubts returns what is closed when no block is in doubt any more, nil when none is.
func (f *follower) doubts() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.doubt
}

// readHead asks for the newest block. When it cannot follow the one before, or precede it, the chain is in doubt from
// here on. Whether one far ahead descends from the blocks which were read is not known before they were compared with
// its branch; settle does that.
func (f *follower) readHead(ctx context.Context) (order.Head, error) {
	head, err := f.source.Head(ctx)
	if err != nil {
		return order.Head{}, err
	}
	f.mu.Lock()
	before := f.head
	if f.newest != head.Latest.Hash {
		f.newest = head.Latest.Hash
		f.epoch.End()
		f.epoch = &Epoch{began: time.Now()}
	}
	f.mu.Unlock()
	if contradict(before, head.Latest) {
		f.doubtSince(head, 0)
	}
	return head, nil
}

// contradict reports whether two heads read one after the other cannot be of one branch.
func contradict(before, now order.Block) bool {
	switch {
	case before.Hash == chain.Hash{}:
		return false
	case now.Number == before.Number:
		return now.Hash != before.Hash
	case now.Number == before.Number+1:
		return now.Parent != before.Hash
	case now.Number+1 == before.Number: // an endpoint that is behind another one
		return now.Hash != before.Parent
	}
	return false
}

// doubtSince takes note of a head that does not descend from the blocks which were read. The doubt lasts until those up
// to a number are read again. The observer hears of it
// after the chain is in doubt and before anybody sees the head: what is asked for from then on is read from the chain,
// or waits.
func (f *follower) doubtSince(head order.Head, until uint64) {
	f.mu.Lock()
	isNew := f.doubt == nil
	if isNew {
		f.doubt = make(chan struct{})
	}
	f.doubtTo = max(f.doubtTo, until)
	f.mu.Unlock()
	if isNew || until == 0 {
		f.observer.BranchChanged(f.chain)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.head, f.finalized, f.seenTo = head.Latest, head.Finalized, 0
}

// accept takes note of a head that descends from the blocks which were read.
func (f *follower) accept(head order.Head) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.head, f.finalized, f.seenTo = head.Latest, head.Finalized, 0
	if f.position.block >= f.doubtTo {
		f.endDoubt()
	}
}

// endDoubt must be called with mu held.
func (f *follower) endDoubt() {
	if f.doubt != nil {
		close(f.doubt)
		f.doubt, f.doubtTo = nil, 0
	}
}
