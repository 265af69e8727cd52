package order

import "crossgate/chain"

// Swap is an exchange of one token for another within a chain, made by the protocol's router for any caller. One
// event has all of it; a swap that fails leaves none.
type Swap struct {
	ID   ID // see order/onchain
	At   At // without Initiator, which the event lacks
	Fact Swapped
}

// Swapped reports a swap within a chain. Its event has the id of the swap in the place of an order's.
type Swapped struct {
	Sender       chain.Address // who called the router: a wallet, which may be a contract
	Recipient    chain.Address
	TokenIn      chain.Address // the zero address is the native coin
	AmountIn     chain.Amount
	TokenOut     chain.Address
	AmountOut    chain.Amount // gross, before the fee and the affiliate's share
	Fee          chain.Amount // out token; what the router kept, surplus that the recipient had no share of included
	Affiliate    *Affiliate   // of the out token; nil without one, the beneficiary absent where no event names it
	ReferralCode uint32
}

// Received is what the router sent to the recipient; a token that takes a fee of its own delivers less.
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

// Event is the event that reported the swap.
func (s Swap) Event() Event { return Event{Order: s.ID, At: s.At, Fact: s.Fact} }
