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
		if cause := f.sync.stoppedBy(); cause != nil && x.store.Available() == nil {
			return &UnreachableError{Chains: []chain.ID{f.chain}, Err: cause}
		}
		for doubt := f.sync.doubts(); doubt != nil && x.store.Available() == nil; doubt = f.sync.doubts() {
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

// doubt is about blocks that were read and are gone. Whoever has it guards it.
type doubt struct {
	over  chan struct{} // closed when they are withdrawn, nil when none is gone
	until uint64        // it lasts until blocks up to here are read again
}

// begin reports whether there was no doubt before.
func (d *doubt) begin(until uint64) (isNew bool) {
	isNew = d.over == nil
	if isNew {
		d.over = make(chan struct{})
	}
	d.until = max(d.until, until)
	return isNew
}

func (d *doubt) end() {
	if d.over != nil {
		close(d.over)
		d.over, d.until = nil, 0
	}
}

// readHead asks for the newest block. When it cannot follow the one before, or precede it, the chain is in doubt from
// here on. Whether one far ahead descends from the blocks which were read is not known before they were compared with
// its branch; settle does that.
func (f *follower) readHead(ctx context.Context) (order.Head, error) {
	head, err := f.source.Head(ctx)
	if err != nil {
		return order.Head{}, err
	}
	if f.sync.reported(head.Latest) {
		f.doubtSince(head, 0)
	}
	return head, nil
}

// doubtSince takes note of a head that does not descend from the blocks which were read. The doubt lasts until those up
// to a number are read again. The observer hears of it after the chain is in doubt and before anybody sees the head:
// what is asked for from then on is read from the chain, or waits.
func (f *follower) doubtSince(head order.Head, until uint64) {
	if f.sync.beginDoubt(until) || until == 0 {
		f.observer.BranchChanged(f.chain)
	}
	f.sync.contradicted(head)
}
