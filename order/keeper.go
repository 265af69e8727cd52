package order

import (
	"context"

	"crossgate/chain"
)

// Keeper is a Source whose chain can be asked for what it keeps of orders, without their events.
type Keeper interface {
	// Origin returns a block before which there is no event of an order: the first one with the protocol's
	// contracts, or an earlier one where that cannot be found.
	Origin(ctx context.Context) (uint64, error)
	// Kept returns what the chain keeps now of orders that it is the give chain of, in the sequence of ids.
	Kept(ctx context.Context, ids []ID) ([]Kept, error)
}

// Kept is what a give chain keeps of an order.
type Kept struct {
	State  State        // None, StateCreated, StateClaimedUnlock or StateClaimedOrderCancel
	Amount chain.Amount // what was given, after patches; only while it is StateCreated
}
