package order

import (
	"context"

	"crossgate/chain"
)

// Reader is a Source that can be asked about single orders, without an index.
type Reader interface {
	// History returns the events that one side of the order left on this chain. since is the UNIX time before which
	// nothing happened, zero if unknown; if it is known, the creation may be omitted. *PartialError is returned with
	// the events if not all blocks could be searched.
	History(ctx context.Context, id ID, side Side, since uint64) (Evidence, error)
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
