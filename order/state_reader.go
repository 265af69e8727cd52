package order

import (
	"context"

	"crossgate/chain"
)

// StateReader is a Source whose chain can be asked for the state that its contracts store of orders, without their
// events.
type StateReader interface {
	// Origin returns a block before any event of an order: the first with the protocol's contracts, or an earlier one
	// where that cannot be found.
	Origin(ctx context.Context) (uint64, error)
	// States returns what the chain stores now of orders that it is the give chain of, in the sequence of ids.
	States(ctx context.Context, ids []ID) ([]StoredState, error)
}

// TakeStateReader is a Source whose chain can be asked for the state that its contracts store of orders that are taken
// there, without their events.
type TakeStateReader interface {
	// TakeStates returns what the chain stores now of orders that it is the take chain of, in the sequence of ids:
	// None, StateFulfilled, StateSentUnlock, StateOrderCancelled or StateSentOrderCancel.
	TakeStates(ctx context.Context, ids []ID) ([]StoredState, error)
}

// StoredState is what a chain stores of one side of an order.
type StoredState struct {
	State State // of a give chain None, StateCreated, StateClaimedUnlock or StateClaimedOrderCancel
	// Amount is of a give chain the give amount after patches, only while it is StateCreated; of a take chain by how
	// much the take amount was lowered, zero where that is not stored.
	Amount   chain.Amount
	IsSingle bool // one endpoint alone reports it
}
