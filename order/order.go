// Package order is the cross-chain order: its terms, its events, and the record that folding the
// events gives. It is pure: the same events give the same order, in whatever sequence they arrive.
package order

import "crossgate/chain"

// ID is the keccak256 of an order's packed terms (see order/onchain).
type ID = chain.Hash

// Terms are what the maker signed up to: the order tuple of every DLN event
// (dln-contracts, libraries/DlnOrderLib.sol). They never change and give the order its id.
type Terms struct {
	Nonce        uint64 // makerOrderNonce: a counter, or a salt of the maker's choice
	Maker        chain.Address
	Give, Take   Offer
	Receiver     chain.Address // on the take chain
	Authorities  Authorities
	ExternalCall []byte // run on the take chain after fulfilment; empty when there is none

	// ExternalCallHash is the keccak256 of an external call whose bytes are not known: Solana keeps no more
	// of it. Absent when ExternalCall is there.
	ExternalCallHash chain.Hash `json:",omitzero"`
}

// HasExternalCall reports whether something is to be run on the take chain after fulfilment.
func (t Terms) HasExternalCall() bool {
	return len(t.ExternalCall) > 0 || !t.ExternalCallHash.IsAbsent()
}

// Offer is one side of an order.
type Offer struct {
	Chain  chain.ID
	Token  chain.Address // the zero address is the native coin
	Amount chain.Amount  // smallest units; on the give side net of the percent and affiliate fees
}

// Authorities are the addresses that may act on an order beside its maker. Absent means unrestricted.
type Authorities struct {
	GivePatch         chain.Address // may raise the give amount
	Order             chain.Address // may cancel, on the take chain
	AllowedTaker      chain.Address
	CancelBeneficiary chain.Address // the only one who may be refunded
}

// Order is everything known about one order: the fold of its events.
type Order struct {
	ID    ID
	Terms Terms
	State State
	Call  ExternalCallState

	GiveFinal, TakeFinal chain.Amount  // after patches; the terms' amounts without them
	FinalPercentFee      *chain.Amount // after patches; nil while no event has it

	// Gaps are what its reader could not search of its chains: events in there are missing. None for an order that was
	// folded from all its events.
	Gaps []Gap

	// Single are the chains on which a part of the order is one endpoint's word.
	Single []chain.ID

	// The newest blocks of the give and the take chain with an event of the order; zero without one.
	GiveBlock, TakeBlock uint64

	Created       *Seen[Created] // nil while only the take chain has spoken of the order
	Fulfilled     *Seen[Fulfilled]
	SentUnlock    *Seen[Sent]
	ClaimedUnlock *Seen[Claimed]
	Cancelled     *Seen[Cancelled] // on EVM the same event as SentCancel
	SentCancel    *Seen[Sent]
	ClaimedCancel *Seen[Claimed]
}

// Seen is a fact together with where it was seen.
type Seen[F Fact] struct {
	At   At
	Fact F
}

// At says where on a chain an event happened.
type At struct {
	Chain     chain.ID
	Tx        chain.TxHash
	Block     uint64 // slot on Solana
	BlockHash chain.Hash
	Time      uint64        // of the block, UNIX seconds
	Initiator chain.Address // sender of the transaction, fee payer on Solana; absent: not read, see LogSource
	LogIndex  uint          // unique in a block; orders the events of a transaction
}
