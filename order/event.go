package order

import "crossgate/chain"

// Event is one thing that a chain reported about one order, or about one swap within the chain.
type Event struct {
	Order ID // or the swap's
	At    At
	Fact  Fact
}

// Fact is the content of an event: one of the types below.
type Fact interface{ fact() }

// Created opens an order on its give chain.
type Created struct {
	Terms        Terms
	FixFee       chain.Amount // native coin of the give chain
	PercentFee   chain.Amount // give token
	ReferralCode uint32
	Affiliate    *Affiliate
	Metadata     []byte // orderMetadata as written by the maker's software; nil for events from before it was emitted
	Preswap      *Preswap
}

// Affiliate is an integrator's share: of an order's give amount, paid when the order is claimed, or of the proceeds of
// a swap within a chain, paid immediately.
type Affiliate struct {
	Beneficiary chain.Address
	Amount      chain.Amount // give token; for a swap the out token
}

// Preswap is a swap that the router made in the creating transaction to obtain the give token.
type Preswap struct {
	TokenIn, TokenOut   chain.Address
	AmountIn, AmountOut chain.Amount
}

// GiveIncreased raises the give amount (patchOrderGive, absent from today's contracts).
type GiveIncreased struct {
	Final           chain.Amount
	FinalPercentFee chain.Amount
}

// TakeDecreased lowers the take amount (patchOrderTake, absent from today's contracts).
type TakeDecreased struct{ Final chain.Amount }

// Fulfilled reports that the taker delivered on the take chain. It repeats all terms.
type Fulfilled struct {
	Terms           Terms
	ActualAmount    *chain.Amount // nil if the contract generation or the chain does not report it
	Taker           chain.Address // sender of the fulfilment: the solver, or a router in between
	UnlockAuthority chain.Address // may send the unlock
}

// Sent reports that an unlock or cancel message for the give chain left the take chain.
type Sent struct {
	Kind        MessageKind
	Beneficiary chain.Address // on the give chain
	Submission  chain.Hash
}

// Claimed reports that an unlock or cancel message was executed on the give chain.
type Claimed struct {
	Kind        MessageKind
	Beneficiary chain.Address
	Paid        chain.Amount // give token; zero on Solana, which does not report it
	Submission  chain.Hash   // of the message; absent if the chain does not report it
}

// MessageKind is the purpose of a message between the two chains.
type MessageKind uint8

// The two messages of the protocol.
const (
	Unlock MessageKind = iota + 1
	Cancel
)

// Cancelled marks an order as cancelled on a take chain that sends the message separately (Solana).
type Cancelled struct{}

// ExternalCall is a step of the order's call on the take chain.
type ExternalCall struct {
	Step ExternalCallStep
	By   chain.Address `json:",omitzero"` // the caller of CallFallenBack; absent if the chain does not report it
}

// ExternalCallStep is a step reported by the external call's adapter.
type ExternalCallStep uint8

// Steps of an external call.
const (
	CallRegistered ExternalCallStep = iota + 1
	CallExecuted
	CallFailed
	CallCancelled
	CallBegun      // some of its instructions ran, others remain (Solana)
	CallFallenBack // abandoned; the delivered tokens went to the caller (Solana)
)

func (Created) fact()       {}
func (GiveIncreased) fact() {}
func (TakeDecreased) fact() {}
func (Fulfilled) fact()     {}
func (Sent) fact()          {}
func (Claimed) fact()       {}
func (Cancelled) fact()     {}
func (ExternalCall) fact()  {}

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
