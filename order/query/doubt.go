package query

import (
	"context"
	"errors"
	"time"

	"crossgate/chain"
)

// doubtLimit is how long answers wait for the withdrawal of blocks that a reorg dropped.
const doubtLimit = 2 * time.Second

// errDoubt is the reason why a chain in doubt cannot be read.
var errDoubt = errors.New("a reorg has dropped blocks that could not be withdrawn yet")

// awaitWithdrawals waits until no chain is in doubt, that is, until all blocks known to be dropped by a reorg are
// withdrawn. It returns *UnreachableError if that takes too long. It does not wait for an unavailable store.
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
