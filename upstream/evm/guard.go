package evm

import (
	"bytes"
	"fmt"

	"crossgate/chain"
	"crossgate/quote"
)

const (
	selectorLength = 4 // the part of calldata that names the function
	wordLength     = 32
)

// Guard checks swap transactions of EVM chains, and of TRON.
type Guard struct{}

var _ quote.Guard = Guard{}

// Check implements quote.Guard. It refuses a transaction that calls another contract than the venue's router, moves
// another amount of the coin than the swap's input, calls no function, or does not name the recipient.
func (Guard) Check(s quote.Swap, p quote.Profile, tx quote.Tx) error {
	if !p.Calls(s.Chain.ID, tx.To) {
		return fmt.Errorf("%w: it calls %s, not the router %s", quote.ErrRefused, tx.To, p.Routers[s.Chain.ID])
	}
	var value chain.Amount
	if s.In.Address.IsNative() {
		value = s.In.Amount
	}
	if tx.Value != value {
		return fmt.Errorf("%w: it carries %s of the coin, not %s", quote.ErrRefused, tx.Value, value)
	}
	if len(tx.Data) < selectorLength {
		return fmt.Errorf("%w: its calldata has %d bytes", quote.ErrRefused, len(tx.Data))
	}
	if p.OmitsSender && s.Sender == s.Recipient {
		return nil
	}
	if s.Recipient.IsAbsent() || !bytes.Contains(tx.Data[selectorLength:], s.Recipient.Bytes()) {
		return fmt.Errorf("%w: its calldata does not name the recipient", quote.ErrRefused)
	}
	return nil
}

// Venues round the minimum in their own ways: mostly floor(out × (1 − slippage)), some in floating point,
// some before they take a fee of their own.
const (
	roundingPart  = 1_000_000_000 // the part of the minimum that floating point may lose
	largestOwnFee = 300           // basis points
	wholeInBps    = 10_000
)

// MinOut implements quote.Guard. It reads the minimum from calldata without knowing the function: the wanted one where
// it stands there, otherwise the least number that can be meant for it. One unit is given up when that one is larger,
// since it may be from before a fee.
func (Guard) MinOut(_ quote.Quote, tx quote.Tx, wanted, gross chain.Amount) (chain.Amount, error) {
	unit := chain.NewAmount(1)
	least := wanted.Sub(wanted.MulDiv(1, roundingPart)).Sub(unit).Bytes32()
	most := gross.Add(gross.MulDiv(largestOwnFee, wholeInBps)).Bytes32()
	exact := wanted.Bytes32()
	var smallest []byte
	for at := selectorLength; at+wordLength <= len(tx.Data); at++ {
		word := tx.Data[at : at+wordLength]
		if bytes.Equal(word, exact[:]) {
			return wanted, nil
		}
		if bytes.Compare(word, least[:]) >= 0 && bytes.Compare(word, most[:]) <= 0 &&
			(smallest == nil || bytes.Compare(word, smallest) < 0) {
			smallest = word
		}
	}
	if smallest == nil {
		return chain.Amount{}, fmt.Errorf("%w: its calldata holds no minimum of about %s", quote.ErrRefused, wanted)
	}
	if enforced := chain.AmountFromBytes(smallest); enforced.Cmp(wanted) < 0 {
		return enforced, nil
	}
	return wanted.Sub(unit), nil
}
