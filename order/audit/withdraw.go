package audit

import (
	"context"
	"fmt"

	"crossgate/chain"
)

// Withdrawal is the result of an operator's withdrawal of blocks.
type Withdrawal struct {
	Was    uint64 // newest block read before
	Orders int    // orders changed
}

// Withdraw withdraws a chain's blocks from a number on, with their events and anchors: an operator has decided that
// they do not belong to the chain. Gateways resume reading there, from whatever endpoints they have.
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
		return Withdrawal{}, fmt.Errorf("chain %d: blocks %d to %d can be withdrawn, not block %d and later",
			id, position.First+1, position.Block, from)
	}
	_, changes, err := readers[0].GoBack(ctx, position, from-1)
	return Withdrawal{Was: position.Block, Orders: len(changes)}, err
}
