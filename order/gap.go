package order

import (
	"fmt"

	"crossgate/chain"
)

// Gap is a range of a chain's blocks that may hold events of an order but could not be read.
type Gap struct {
	Chain    chain.ID
	From, To uint64 // both included
}

// PartialError says that the events returned with it may not be all events of one side of an order, since the blocks of
// a gap were not searched.
type PartialError struct {
	Gap
	Err error // why they were not searched
}

func (e *PartialError) Error() string {
	return fmt.Sprintf("blocks %d to %d of chain %d were not searched: %s", e.From, e.To, e.Chain, e.Err)
}

func (e *PartialError) Unwrap() error { return e.Err }
