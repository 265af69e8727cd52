package index

import (
	"context"
	"fmt"

	"crossgate/chain"
)

// Withdrawal is what an operator has had withdrawn.
type Withdrawal struct {
	To     uint64 // newest block that is kept
	Was    uint64 // newest block that was read
	Orders int    // that changed
}

// Withdraw withdraws what blocks of a chain from a number on said, with its anchors there: an operator has decided that
// they are not the chain's. Gateways read on from there, by whatever endpoints they have.
func (x *Index) Withdraw(ctx context.Context, id chain.ID, from uint64) (Withdrawal, error) {
	f, followed := x.byChain[id]
	if !followed {
		return Withdrawal{}, fmt.Errorf("chain %d is not configured", id)
	}
	position, known, err := x.store.checkpoint(ctx, id)
	switch {
	case err != nil:
		return Withdrawal{}, err
	case !known || from <= position.first || from > position.block:
		return Withdrawal{}, fmt.Errorf("of chain %d blocks %d to %d can be withdrawn, not from %d on",
			id, position.first+1, position.block, from)
	}
	kept, err := f.source.Block(ctx, from-1)
	if err != nil {
		return Withdrawal{}, fmt.Errorf("read block %d: %w", from-1, err)
	}
	back := position
	back.block, back.blockTime = from-1, kept.Time
	back.reorgs++
	back.provenEnd = min(back.provenEnd, from)
	changes, err := x.store.rewind(ctx, f.lease, id, position, back)
	return Withdrawal{To: back.block, Was: position.block, Orders: len(changes)}, err
}
