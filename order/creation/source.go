package creation

import (
	"fmt"
	"strings"

	"crossgate/chain"
	"crossgate/order/onchain"
)

// source makes DlnSource's checks of the creation in its order; payer is the caller's state of the give token. A nil
// value is unknown.
func (j *judge) source(value *chain.Amount, payer Token) *Refusal {
	c, by := j.f.Creation, j.s.Contracts.DlnSource
	if j.early != nil {
		return malformed(by, j.early)
	}
	if j.known("pause of DlnSource", j.s.Paused != nil) && *j.s.Paused {
		return refused(by, "DlnSource is paused", "Error", "Pausable: paused")
	}
	if n := len(c.AffiliateFee); n != 0 && n != onchain.AffiliateLength {
		return refused(by, fmt.Sprintf("the affiliate fee has %d bytes, not %d or none", n, onchain.AffiliateLength), "WrongAffiliateFeeLength")
	}
	if j.late != nil {
		return malformed(by, j.late)
	}
	if r := j.takeSide(); r != nil {
		return r
	}
	if r := j.value(value); r != nil {
		return r
	}
	if !c.GiveToken.IsNative() {
		if r := j.permit(c.Permit, &payer, by, refused(by, permitFails, "PermitFailure")); r != nil {
			return r
		}
		if r := j.pull(c.GiveAmount, payer, by); r != nil {
			return r
		}
	}
	return j.stored()
}

// takeSide checks the take chain and the lengths of the addresses.
func (j *judge) takeSide() *Refusal {
	c, by := j.f.Creation, j.s.Contracts.DlnSource
	if c.Take.Chain == 0 || j.s.Destination != nil && j.s.Destination.IsAbsent() {
		return refused(by, fmt.Sprintf("DlnSource has no DlnDestination for chain %d", c.Take.Chain), "NotSupportedDstChain")
	}
	if !j.known("DlnDestination of the take chain", j.s.Destination != nil) {
		return nil
	}
	const own = 20 // bytes of an address on the give chain
	if why := j.lengths(j.s.Destination.Len(), own); why != "" {
		return refused(by, why, "WrongAddressLength")
	}
	return nil
}

// lengths returns which address does not have its chain's length; empty: none.
func (j *judge) lengths(length, own int) string {
	c := j.f.Creation
	for _, each := range []struct {
		name       string
		address    chain.Address
		length     int
		isOptional bool
	}{
		{"take token", c.Take.Token, length, false},
		{"receiver", c.Receiver, length, false},
		{"order authority", c.Authorities.Order, length, false},
		{"allowed taker", c.Authorities.AllowedTaker, length, true},
		{"cancel beneficiary", c.Authorities.CancelBeneficiary, own, true},
	} {
		if got := each.address.Len(); got != each.length && !(each.isOptional && got == 0) {
			return fmt.Sprintf("the %s has %d bytes in place of %d", each.name, got, each.length)
		}
	}
	return ""
}

// value checks that the native coin sent is exactly the fixed fee, plus the give amount if that is native.
func (j *judge) value(value *chain.Amount) *Refusal {
	by := j.s.Contracts.DlnSource
	if !j.known("fixed fee", j.s.FixedFee != nil) || !j.known("value for DlnSource", value != nil) {
		return nil
	}
	if fee := *j.s.FixedFee; !j.f.Creation.GiveToken.IsNative() {
		if *value == fee {
			return nil
		}
		return refused(by, fmt.Sprintf("the value is %s, the fixed fee %s", *value, fee), "WrongFixedFee", *value, fee)
	}
	gross := j.f.Creation.GiveAmount
	expected := gross.Add(*j.s.FixedFee)
	switch {
	case expected.Sub(gross) != *j.s.FixedFee:
		return refused(by, "amount and fixed fee exceed 256 bits", "Panic", panicOverflow)
	case *value != expected:
		return refused(by, fmt.Sprintf("the value is %s, amount and fixed fee are %s", *value, expected), "MismatchNativeGiveAmount")
	}
	return nil
}

const permitFails = "the permit is not valid, and the allowance does not cover its amount"

// permit checks an envelope, and sets the payer's allowance to the resulting one, if known.
func (j *judge) permit(envelope []byte, payer *Token, by chain.Address, failure *Refusal) *Refusal {
	if len(envelope) == 0 {
		return nil
	}
	if len(envelope) < leastEnvelope {
		return refused(by, fmt.Sprintf("the permit envelope has %d bytes", len(envelope)), "WrongArgumentLength")
	}
	p, _ := ParsePermit(envelope)
	if v := p.V(); v != 27 && v != 28 {
		return refused(by, fmt.Sprintf("the permit's signature has v = %d", p.Signature[64]), "SignatureInvalidV")
	}
	switch {
	case !j.known("validity of the permit", payer.TakesPermit != nil):
		payer.Allowance = nil
	case *payer.TakesPermit:
		payer.Allowance = &p.Amount
	case payer.Allowance != nil && payer.Allowance.Cmp(p.Amount) < 0:
		return failure
	}
	return nil
}

// pull checks that a contract gets an amount of a token. A token's own refusal has the token's revert data.
func (j *judge) pull(amount chain.Amount, payer Token, by chain.Address) *Refusal {
	if !j.known("token", payer.IsToken != nil) {
		return nil
	}
	if !*payer.IsToken {
		return noToken(by)
	}
	if j.known("allowance", payer.Allowance != nil) && payer.Allowance.Cmp(amount) < 0 {
		r := ofToken(payer.LacksAllowance, by, fmt.Sprintf("the allowance is %s, the amount %s", payer.Allowance, amount))
		r.IsUnapproved = true
		return r
	}
	if j.known("balance", payer.Balance != nil) && payer.Balance.Cmp(amount) < 0 {
		return ofToken(payer.LacksBalance, by, fmt.Sprintf("the balance is %s, the amount %s", payer.Balance, amount))
	}
	if payer.TransferFrom == ReturnsFalse {
		return refused(by, "the token returns false", "Error", "SafeERC20: ERC20 operation did not succeed")
	}
	return nil
}

func noToken(by chain.Address) *Refusal {
	return &Refusal{By: by, Data: []byte{}, Why: "the token is not a token contract"}
}

// ofToken returns a token's own refusal, as passed on by SafeERC20. Nil data is unknown.
func ofToken(data []byte, by chain.Address, why string) *Refusal {
	switch {
	case data == nil:
		return &Refusal{By: by, Why: why}
	case len(data) == 0:
		return refused(by, why, "Error", "SafeERC20: low-level call failed")
	}
	return &Refusal{By: by, Data: data, Why: why}
}

// stored makes the checks of the order to be stored.
func (j *judge) stored() *Refusal {
	const chainBits, percentBits = 48, 208
	c, by := j.f.Creation, j.s.Contracts.DlnSource
	if !j.known("percentage", j.s.PercentBps != nil) {
		return nil
	}
	if j.f.Split == nil {
		return refused(by, "percentage and affiliate fee exceed the give amount, or 256 bits", "Panic", panicOverflow)
	}
	if j.known("status of the order id", j.f.ID != nil && j.s.IsUsed != nil) && *j.s.IsUsed {
		return refused(by, "an order with this id exists", "IncorrectOrderStatus")
	}
	if uint64(c.Take.Chain)>>chainBits != 0 {
		return tooWide(by, chainBits)
	}
	if j.f.Split.Percent.Big().BitLen() > percentBits {
		return tooWide(by, percentBits)
	}
	if a := c.Affiliate(); a != nil && !a.Amount.IsZero() && a.Beneficiary.IsNative() {
		return refused(by, "the affiliate is the zero address", "ZeroAddress")
	}
	return nil
}

func tooWide(by chain.Address, bits int) *Refusal {
	message := fmt.Sprintf("SafeCast: value doesn't fit in %d bits", bits)
	return refused(by, strings.TrimPrefix(message, "SafeCast: "), "Error", message)
}
