package quote

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"crossgate/chain"
)

// ErrNoRouter means that a chain has no public router, or that it is not the known contract.
var ErrNoRouter = errors.New("no public router")

// Router is a chain's public router. It calls a venue's router in its own name, keeps its share of the output, pays the
// affiliate and the recipient, or reverts below the minimum. Its owners list the contracts it calls.
type Router interface {
	// Terms returns the router's terms and which of the venues' contracts it calls, or ErrNoRouter if it is absent.
	Terms(ctx context.Context, venues []chain.Address) (RouterTerms, error)
	// Wrap returns the transaction of a swap.
	Wrap(s RouterSwap) Tx
}

// RouterTerms are the public router's terms, as read from the contract.
type RouterTerms struct {
	Address chain.Address
	FeeBps  int // of the gross payout; kept by the router
	Calls   map[chain.Address]bool
}

// RouterSwap are the arguments of the public router's swap function. The zero address is the native coin.
type RouterSwap struct {
	TokenIn  chain.Address
	AmountIn chain.Amount
	Permit   []byte // empty, or amount, deadline, r, s and v of an EIP-2612 permit: 129 bytes
	// Spender pulls the input from the router if VenueRouter does not. Absent: the spender that the router knows.
	Spender     chain.Address
	VenueRouter chain.Address
	VenueData   []byte
	TokenOut    chain.Address
	MinOut      chain.Amount // of what the recipient gets
	// SurplusShareBps is the recipient's share of what comes out beyond MinOut; the treasury gets the rest.
	SurplusShareBps uint16
	AffiliateFee    []byte // empty, or 2 bytes of basis points and 20 of the affiliate's address
	Recipient       chain.Address
	ReferralCode    uint32
}

const wholeBps = 10_000

// wrap returns the public router's call of the venue, with a minimum. The router must list a separate spender, too.
func (t *trade) wrap(p Profile, venue Tx, minimum chain.Amount) (Tx, error) {
	s := t.swap
	var spender chain.Address
	if other := p.Spender(s.Chain.ID, venue.To); other != venue.To && !s.In.Address.IsNative() {
		spender = other
	}
	if !spender.IsAbsent() && !t.router.calls(spender) {
		return Tx{}, fmt.Errorf("%w: the public router does not call %s", ErrRefused, spender)
	}
	fee, err := affiliateEnvelope(s.Affiliate)
	if err != nil {
		return Tx{}, err
	}
	return t.router.router.Wrap(RouterSwap{
		TokenIn: s.In.Address, AmountIn: s.In.Amount, Spender: spender,
		VenueRouter: venue.To, VenueData: venue.Data,
		TokenOut: s.Out.Address, MinOut: minimum,
		SurplusShareBps: wholeBps, // anything less would go to the router's treasury
		AffiliateFee:    fee,
		Recipient:       s.Recipient, ReferralCode: t.request.ReferralCode,
	}), nil
}

// affiliateEnvelope encodes the affiliate's share for the public router; empty without an affiliate.
func affiliateEnvelope(a Affiliate) ([]byte, error) {
	if !a.Percent.IsPositive() {
		return nil, nil
	}
	bps := a.Percent.Shift(2)
	if !bps.IsInteger() {
		return nil, fmt.Errorf("affiliate share of %s %% is finer than a basis point: %w", a.Percent, ErrNoAffiliate)
	}
	envelope := binary.BigEndian.AppendUint16(nil, uint16(bps.IntPart()))
	return append(envelope, a.Recipient.Bytes()...), nil
}
