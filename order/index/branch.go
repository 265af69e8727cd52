package index

import (
	"context"
	"errors"
	"slices"
	"time"

	"crossgate/chain"
	"crossgate/order"
)

// doubtLimit is how long answers wait for the blocks of a reorg to be withdrawn.
const doubtLimit = 2 * time.Second

// errDoubt says why nothing is said of a chain.
var errDoubt = errors.New("a reorg has dropped blocks that could not be withdrawn yet")

// Branch returns a number that is another one after each reorg of one of the chains, of any chain when none are
// named: an answer made under another number (the sum of Lag.Branch) may tell what a dropped block said. Where a
// chain has told of a head that does not stand on the blocks which were read, Branch waits until they are
// withdrawn; *UnreachableError when that takes too long.
func (x *Index) Branch(ctx context.Context, chains ...chain.ID) (uint64, error) {
	var sum uint64
	for _, f := range x.followers {
		if len(chains) > 0 && !slices.Contains(chains, f.chain) {
			continue
		}
		branch, err := f.settledBranch(ctx)
		if err != nil {
			return 0, err
		}
		sum += branch
	}
	return sum, nil
}

// settledBranch waits while the chain is in doubt.
func (f *follower) settledBranch(ctx context.Context) (uint64, error) {
	branch, doubt := f.standing()
	if doubt == nil {
		return branch, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, doubtLimit, errDoubt)
	defer cancel()
	for doubt != nil {
		select {
		case <-doubt:
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), errDoubt) {
				return 0, &UnreachableError{Chains: []chain.ID{f.chain}, Err: errDoubt}
			}
			return 0, ctx.Err()
		}
		branch, doubt = f.standing()
	}
	return branch, nil
}

func (f *follower) standing() (branch uint64, doubt <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.branch, f.doubt
}

// doubts returns what is closed when no block is in doubt any more, nil when none is.
func (f *follower) doubts() <-chan struct{} {
	_, doubt := f.standing()
	return doubt
}

// readHead asks for the newest block. When it cannot follow the one before, or precede it, the chain is in doubt
// from here on. Whether one that has jumped stands on the blocks which were read is not known before they were
// compared with its branch: it is taken note of then.
func (f *follower) readHead(ctx context.Context) (order.Head, error) {
	head, err := f.source.Head(ctx)
	if err != nil {
		return order.Head{}, err
	}
	f.mu.Lock()
	before := f.head
	f.mu.Unlock()
	if contradict(before, head.Latest) {
		f.doubtSince(head)
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

// follows reports whether a head is the one before or its child.
func (f *follower) follows(now order.Block) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return now.Hash == f.head.Hash || now.Parent == f.head.Hash
}

// doubtSince takes note of a head that does not stand on the blocks which were read.
func (f *follower) doubtSince(head order.Head) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.head, f.finalized = head.Latest, head.Finalized
	if f.doubt == nil {
		f.doubt = make(chan struct{})
	}
}

// stands takes note of a head that stands on the blocks which were read.
func (f *follower) stands(head order.Head) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.head, f.finalized = head.Latest, head.Finalized
	f.endDoubt()
}

// standsAnew is stands after blocks were withdrawn.
func (f *follower) standsAnew(head order.Head) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.branch++
	f.head, f.finalized = head.Latest, head.Finalized
	f.endDoubt()
}

// endDoubt is for those who hold mu.
func (f *follower) endDoubt() {
	if f.doubt != nil {
		close(f.doubt)
		f.doubt = nil
	}
}
