package order

import (
	"fmt"

	"crossgate/chain"
)

// Gap is a range of a chain's blocks that may hold events of an order and could not be read.
type Gap struct {
	Chain    chain.ID
	From, To uint64 // both included
}

// PartialError says that the events beside it are all that could be found of one side of an order: the blocks of a gap
// were not read.
type PartialError struct {
	Gap
	Err error // why
}

func (e *PartialError) Error() string {
	return fmt.Sprintf("blocks %d to %d of chain %d were not searched: %s", e.From, e.To, e.Chain, e.Err)
}

func (e *PartialError) Unwrap() error { return e.Err }
