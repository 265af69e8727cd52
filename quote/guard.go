package quote

import (
	"bytes"
	"errors"
	"fmt"

	"crossgate/chain"
)

// ErrRefused means that a venue's transaction would not do what its quote says.
var ErrRefused = errors.New("transaction refused")

// guard refuses a transaction that calls another contract than the venue's router, moves another amount
// of the coin than the swap's input, calls no function, or does not name the recipient.
func guard(s Swap, p Profile, tx Tx) error {
	if s.Chain.Family == chain.SVM {
		return guardMessage(s, p, tx)
	}
	if !p.Calls(s.Chain.ID, tx.To) {
		return fmt.Errorf("%w: it calls %s, not the router %s", ErrRefused, tx.To, p.Routers[s.Chain.ID])
	}
	var value chain.Amount
	if s.In.Address.IsNative() {
		value = s.In.Amount
	}
	if tx.Value != value {
		return fmt.Errorf("%w: it carries %s of the coin, not %s", ErrRefused, tx.Value, value)
	}
	if len(tx.Data) < selectorLength {
		return fmt.Errorf("%w: its calldata has %d bytes", ErrRefused, len(tx.Data))
	}
	if p.OmitsSender && s.Sender == s.Recipient {
		return nil
	}
	if s.Recipient.IsAbsent() || !bytes.Contains(tx.Data[selectorLength:], s.Recipient.Bytes()) {
		return fmt.Errorf("%w: its calldata does not name the recipient", ErrRefused)
	}
	return nil
}
