package audit

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
func (b *Books) Withdraw(ctx context.Context, id chain.ID, from uint64) (Withdrawal, error) {
	readers := b.of(id)
	if id == 0 || len(readers) == 0 {
		return Withdrawal{}, fmt.Errorf("chain %d is not configured", id)
	}
	position, known, err := b.Ledger.Checkpoint(ctx, id)
	switch {
	case err != nil:
		return Withdrawal{}, err
	case !known || from <= position.First || from > position.Block:
		return Withdrawal{}, fmt.Errorf("of chain %d blocks %d to %d can be withdrawn, not from %d on",
			id, position.First+1, position.Block, from)
	}
	_, changes, err := readers[0].GoBack(ctx, position, from-1)
	return Withdrawal{To: from - 1, Was: position.Block, Orders: len(changes)}, err
}
