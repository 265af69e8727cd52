package quote

import (
	"context"
	"fmt"

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

// onward makes the transaction that goes on to another contract, of a venue's that pays enough for it.
func (t *trade) onward(b *built, venue Tx) (Tx, error) {
	o := t.request.Onward
	if !t.router.calls(venue.To) {
		return Tx{}, fmt.Errorf("%w: the public router does not call %s", ErrRefused, venue.To)
	}
	if b.payout.gross.Cmp(o.Expected) < 0 {
		return Tx{}, fmt.Errorf("%w: it pays %s, less than the %s that are expected", ErrRefused, b.payout.gross, o.Expected)
	}
	b.payout.minimum = o.Expected
	return o.Make(venue), nil
}
