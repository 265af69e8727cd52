package quote

import (
	"context"

	"crossgate/chain"
)

// Onward makes the public router call another contract with the output, and take no share for itself or an affiliate.
// Only venues that the router calls are asked.
type Onward struct {
	Target   chain.Address // the router must be able to call it, too
	Expected chain.Amount  // output that the target takes; zero if only prices are requested, as without a recipient
	// Make builds the router's transaction from a venue's.
	Make func(venue Tx) Tx
	// Check simulates the router's transaction and returns the gas it needs. On an error it is not handed out.
	Check func(context.Context, Tx) (gas uint64, err error)
}
