package order

import "crossgate/chain"

// Swap is an exchange of one token for another within a chain, made by the protocol's router for any caller. A single
// event describes all of it; a failed swap leaves none.
type Swap struct {
	ID   ID // see order/onchain
	At   At // without Initiator, which the event lacks
	Fact Swapped
}

// Swapped reports a swap within a chain. Its event has the swap's ID in place of an order's.
type Swapped struct {
	Sender       chain.Address // caller of the router: a wallet, which may be a contract
	Recipient    chain.Address
	TokenIn      chain.Address // the zero address is the native coin
	AmountIn     chain.Amount
	TokenOut     chain.Address
	AmountOut    chain.Amount // gross, before Fee and the affiliate's share
	Fee          chain.Amount // out token; kept by the router, including surplus that was not shared with the recipient
	Affiliate    *Affiliate   // in the out token; nil if none; the beneficiary is absent if no event names it
	ReferralCode uint32
}

// Received returns the amount that the router sent to the recipient; a token with a transfer fee delivers less.
func (s Swapped) Received() chain.Amount {
	received := s.AmountOut.Sub(s.Fee)
	if s.Affiliate != nil {
		received = received.Sub(s.Affiliate.Amount)
	}
	return received
}

func (Swapped) fact() {}

// Swap returns the swap that an event reports.
func (e Event) Swap() (s Swap, is bool) {
	fact, is := e.Fact.(Swapped)
	return Swap{ID: e.Order, At: e.At, Fact: fact}, is
}

// Event returns the event that reported the swap.
func (s Swap) Event() Event { return Event{Order: s.ID, At: s.At, Fact: s.Fact} }
