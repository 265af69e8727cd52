package swap

import (
	"errors"
	"fmt"

	"crossgate/chain"
	"crossgate/quote"
)

// selectorLength is the length of the part of calldata that selects the function, in bytes.
const selectorLength = 4

// Guard checks swap transactions of EVM chains, and of TRON.
type Guard struct{}

var _ quote.Guard = Guard{}

// Check implements quote.Guard. It refuses a transaction that calls another contract than the venue's router or no
// function, carries another value than the swap's input or, as far as its calldata can be read, pays others.
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
	if p.Read == nil {
		return nil
	}
	call, err := p.Read(s.Chain, tx)
	if !errors.Is(err, quote.ErrRefused) { // unknown calls are judged by MinOut, or by the public router
		err = paysOthers(s, call)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", quote.ErrRefused, err)
	}
	return nil
}

// paysOthers rejects a call that gives others shares of the input, or more of it than the swap does.
func paysOthers(s quote.Swap, call quote.Call) error {
	shares := []quote.Affiliate{call.Affiliate, call.Second}
	for _, share := range shares {
		rest := quote.Affiliate{} // what the recipient may still get
		for _, asked := range []quote.Affiliate{s.Affiliate, s.Second} {
			if asked.Recipient == share.Recipient {
				rest.Percent = rest.Percent.Add(asked.Percent)
			}
		}
		for _, given := range shares {
			if given.Recipient == share.Recipient {
				rest.Percent = rest.Percent.Sub(given.Percent)
			}
		}
		if rest.Percent.IsNegative() {
			return fmt.Errorf("it gives a share of the input to %s", share.Recipient)
		}
	}
	return nil
}

// roundedShares is the most that routers that take shares of the input separately from the rest lose to rounding.
var roundedShares = chain.NewAmount(2)

// roundingPart is the divisor of a minimum for what floating-point venues may lose. All may lose one unit.
const roundingPart = 1_000_000_000

// MinOut implements quote.Guard. It returns the minimum that the called function enforces by the venue's profile, and
// refuses unknown functions, other tokens, amounts or payees, shares for others, and less than the wanted minimum.
func (Guard) MinOut(s quote.Swap, p quote.Profile, tx quote.Tx, wanted chain.Amount) (chain.Amount, error) {
	if p.Read == nil {
		return chain.Amount{}, fmt.Errorf("%w: %s is not known to enforce the swap", quote.ErrRefused, p.Name)
	}
	call, err := p.Read(s.Chain, tx)
	if err != nil {
		return chain.Amount{}, fmt.Errorf("%w: %w", quote.ErrRefused, err)
	}
	payee := call.Payee
	if payee.IsAbsent() {
		payee = s.Sender
	}
	short := s.In.Amount.Sub(call.AmountIn)
	least := wanted.Sub(wanted.MulDiv(1, roundingPart)).Sub(chain.NewAmount(1))
	switch err = paysOthers(s, call); {
	case err != nil:
	case payee.IsAbsent() || payee != s.Recipient:
		err = fmt.Errorf("it pays %s, not the recipient", payee)
	case call.TokenIn != s.In.Address:
		err = fmt.Errorf("it takes the token %s", call.TokenIn)
	case call.TokenOut != s.Out.Address:
		err = fmt.Errorf("it gives the token %s", call.TokenOut)
	case call.AmountIn.Cmp(s.In.Amount) > 0, !short.IsZero() && call.Affiliate.Percent.IsZero(), short.Cmp(roundedShares) > 0:
		err = fmt.Errorf("it takes %s of the input instead of %s", call.AmountIn, s.In.Amount)
	case call.MinOut.Cmp(least) < 0 || call.MinOut.IsZero() && !wanted.IsZero():
		err = fmt.Errorf("its minimum is %s in place of %s", call.MinOut, wanted)
	default:
		return call.MinOut, nil
	}
	return chain.Amount{}, fmt.Errorf("%w: %w", quote.ErrRefused, err)
}
