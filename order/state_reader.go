package order

import (
	"context"

	"crossgate/chain"
)

// StateReader is a Source whose chain returns the state that its contracts store about both sides of orders, without
// reading their events.
type StateReader interface {
	// Origin returns a block before any event of an order: the first with the protocol's contracts, or an earlier one
	// if that cannot be found.
	Origin(ctx context.Context) (uint64, error)
	// States returns what the give chain of orders stores about them now, in the sequence of ids.
	States(ctx context.Context, ids []ID) ([]StoredState, error)
	// TakeStates returns what the take chain of orders stores about them now, in the sequence of ids: None,
	// StateFulfilled, StateSentUnlock, StateOrderCancelled or StateSentOrderCancel.
	TakeStates(ctx context.Context, ids []ID) ([]StoredState, error)
}

// StoredState is what a chain stores about one side of an order.
type StoredState struct {
	State State // on a give chain None, StateCreated, StateClaimedUnlock or StateClaimedOrderCancel
	// Amount is, on a give chain, the give amount after patches, set only in StateCreated; on a take chain, by how much
	// the take amount was lowered, zero if that is not stored.
	Amount   chain.Amount
	IsSingle bool // reported by a single endpoint
	// Err is why nothing is known of this order, although the chain returned the others: a newer contract's state.
	Err error
}
