// Package order models the cross-chain order: its terms, its events, and the record that results from folding the
// events. It is pure: the same events yield the same order, in whatever sequence they arrive.
package order

import "crossgate/chain"

// ID is the keccak256 of an order's packed terms (see order/onchain).
type ID = chain.Hash

// Terms are what the maker signed: the order tuple of every DLN event (dln-contracts, libraries/DlnOrderLib.sol). They
// never change, and the order's ID is their hash.
type Terms struct {
	Nonce        uint64 // makerOrderNonce: a counter, or a salt chosen by the maker
	Maker        chain.Address
	Give, Take   Offer
	Receiver     chain.Address // on the take chain
	Authorities  Authorities
	ExternalCall []byte // run on the take chain after fulfilment; empty if there is none

	// ExternalCallHash is the keccak256 of an external call whose bytes are not known: Solana stores only the hash.
	// Absent if ExternalCall is set.
	ExternalCallHash chain.Hash `json:",omitzero"`
}

// HasExternalCall reports whether a call is to be run on the take chain after fulfilment.
func (t Terms) HasExternalCall() bool {
	return len(t.ExternalCall) > 0 || !t.ExternalCallHash.IsAbsent()
}

// Offer is one side of an order.
type Offer struct {
	Chain  chain.ID
	Token  chain.Address // the zero address is the native coin
	Amount chain.Amount  // smallest units; on the give side net of the percent and affiliate fees
}

// Authorities are the addresses besides the maker's that may act on an order. Absent means unrestricted.
type Authorities struct {
	GivePatch         chain.Address // may raise the give amount
	Order             chain.Address // may cancel, on the take chain
	AllowedTaker      chain.Address
	CancelBeneficiary chain.Address // the only address that may be refunded
}

// Order is everything known about one order: its events, folded.
type Order struct {
	ID    ID
	Terms Terms
	State State
	Call  ExternalCallState

	GiveFinal, TakeFinal chain.Amount  // after patches; the terms' amounts if there were none
	FinalPercentFee      *chain.Amount // after patches; nil if no event reports it

	// Gaps are the blocks of its chains that could not be searched: events in them are missing. Empty for an order that
	// was folded from all its events.
	Gaps []Gap

	// Single lists the chains on which part of the order rests on a single endpoint.
	Single []chain.ID

	// The newest block of the give and take chain with an event of the order; zero if there is none.
	GiveBlock, TakeBlock uint64

	Created       *Seen[Created] // nil while only the take chain has reported the order
	Fulfilled     *Seen[Fulfilled]
	SentUnlock    *Seen[Sent]
	ClaimedUnlock *Seen[Claimed]
	Cancelled     *Seen[Cancelled] // on EVM chains the same event as SentCancel
	SentCancel    *Seen[Sent]
	ClaimedCancel *Seen[Claimed]
}

// CancelledAt returns where the order was cancelled, nil if that has not been seen.
func (o *Order) CancelledAt() *At {
	if o.Cancelled == nil {
		return o.SentCancel.Where() // on EVM chains one event cancels and sends the message
	}
	return &o.Cancelled.At
}

// Seen is a fact and where it was seen.
type Seen[F Fact] struct {
	At   At
	Fact F
}

// Where returns where the event was emitted, nil if it has not been seen.
func (s *Seen[F]) Where() *At {
	if s == nil {
		return nil
	}
	return &s.At
}

// At says where on a chain an event happened.
type At struct {
	Chain     chain.ID
	Tx        chain.TxHash
	Block     uint64 // slot on Solana
	BlockHash chain.Hash
	Time      uint64        // of the block, UNIX seconds
	Initiator chain.Address // sender of the transaction, fee payer on Solana; absent if not read, see LogSource
	LogIndex  uint          // unique within a block; orders the events of a transaction
}

// clockSkew is by how many seconds the clocks of two chains may differ: a fulfilment can have an earlier time than the
// creation before it.
const clockSkew = 60

// Since returns the UNIX time before which nothing can have happened to an order; zero if its creation is not known.
func Since(o *Order) uint64 {
	if o.Created == nil {
		return 0
	}
	return o.Created.At.Time - min(clockSkew, o.Created.At.Time)
}

// State is how far an order has come, judged by the furthest event seen (docs.debridge.com, dln-details, order states).
type State uint8

// Two paths leave Created: Fulfilled → SentUnlock → ClaimedUnlock pays the taker, OrderCancelled →
// SentOrderCancel → ClaimedOrderCancel refunds the maker.
const (
	None State = iota
	StateCreated
	StateFulfilled
	StateSentUnlock
	StateOrderCancelled
	StateSentOrderCancel
	StateClaimedUnlock
	StateClaimedOrderCancel
)

var stateNames = [...]string{
	"None", "Created", "Fulfilled", "SentUnlock", "OrderCancelled", "SentOrderCancel", "ClaimedUnlock", "ClaimedOrderCancel",
}

// String returns the state's documented name.
func (s State) String() string { return stateNames[s] }

// IsFinal reports whether no further event can follow.
func (s State) IsFinal() bool { return s == StateClaimedUnlock || s == StateClaimedOrderCancel }

// isCancelled reports whether the order is on the path back to its maker.
func (s State) isCancelled() bool {
	return s == StateOrderCancelled || s == StateSentOrderCancel || s == StateClaimedOrderCancel
}

// IsLocked reports whether the taker has delivered but has not yet been paid.
func (s State) IsLocked() bool { return s == StateFulfilled || s == StateSentUnlock }

// ExternalCallState is how far the order's call on the take chain has come. The names are documented, the rules are our
// own: docs/decisions/0004-readings.md.
type ExternalCallState uint8

// States of an external call.
const (
	NoExtCall ExternalCallState = iota
	AwaitingOrderFulfillment
	AwaitingExecution
	Executing
	Completed
	Failed
	CancelledCall
	OrderCancelled
)

var callNames = [...]string{
	"NoExtCall", "AwaitingOrderFulfillment", "AwaitingExecution", "Executing", "Completed", "Failed", "Cancelled", "OrderCancelled",
}

// String returns the state's documented name.
func (s ExternalCallState) String() string { return callNames[s] }

// IsFinal reports whether nothing more will happen to the call: there is none, or it has ended.
func (s ExternalCallState) IsFinal() bool {
	return s != AwaitingOrderFulfillment && !s.IsUnderWay()
}

// IsUnderWay reports whether the order was delivered but its call has not ended.
func (s ExternalCallState) IsUnderWay() bool { return s == AwaitingExecution || s == Executing }
