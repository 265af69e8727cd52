package quote

import (
	"context"

	"crossgate/chain"
)

// Onward has the public router call another contract with the output, without a share for itself or an affiliate. Only
// venues that the router calls are asked.
type Onward struct {
	Target   chain.Address // which the router must call, too
	Expected chain.Amount  // that the target takes of the output; zero: prices alone are asked for, as without a recipient
	// Make makes the router's transaction of a venue's.
	Make func(venue Tx) Tx
	// Check simulates that, and returns the gas it needs. ErrReverted and ErrRefused: it is not handed out.
	Check func(context.Context, Tx) (gas uint64, err error)
}
