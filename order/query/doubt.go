package query

import (
	"context"
	"errors"
	"time"

	"crossgate/chain"
)

// doubtLimit is how long answers wait for the blocks of a reorg to be withdrawn.
const doubtLimit = 2 * time.Second

// errDoubt is why a chain has no answer.
var errDoubt = errors.New("a reorg has dropped blocks that could not be withdrawn yet")

// awaitWithdrawals returns when no chain is in doubt: when the blocks that a reorg has dropped, as a chain's head
// shows, are withdrawn. *UnreachableError when that takes too long. It does not wait for a store that is unavailable.
func (x *Index) awaitWithdrawals(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, doubtLimit, errDoubt)
	defer cancel()
	for _, f := range x.Followers {
		if cause := f.State().Stopped; cause != nil && x.DB.Available() == nil {
			return &UnreachableError{Chains: []chain.ID{f.ID}, Err: cause}
		}
		for doubt := f.State().Doubt; doubt != nil && x.DB.Available() == nil; doubt = f.State().Doubt {
			select {
			case <-doubt:
			case <-ctx.Done():
				if errors.Is(context.Cause(ctx), errDoubt) {
					return &UnreachableError{Chains: []chain.ID{f.ID}, Err: errDoubt}
				}
				return ctx.Err()
			}
		}
	}
	return nil
}
