package creation

import "crossgate/chain"

// State is a chain's state that decides about a creation. A nil field is unknown.
type State struct {
	Chain     chain.ID
	Contracts chain.Contracts // DlnSource, DlnDestination and Router

	Coins *chain.Amount // native coin of the sender

	// Of DlnSource.
	Version     string // empty: not known
	Paused      *bool
	FixedFee    *chain.Amount  // globalFixedNativeFee
	PercentBps  *uint64        // globalTransferFeeBps
	Destination *chain.Address // DlnDestination of the take chain; absent: none is set
	Nonce       *uint64        // masterNonce of the sender
	IsUsed      *bool          // an order has the id already

	CallsTarget, CallsVenue *bool // whether the router does

	Input Token // that the first contract pulls from its caller
	Give  Token // that DlnSource pulls from the router; not used without a swap

	// Executed is the whole transaction on the chain, as a node makes it.
	Executed *CallResult
}

// CallResult is what a call came to.
type CallResult struct {
	IsReverted bool
	Data       []byte // returned, or reverted with
	Text       string // of the node, in place of data
}

// reason is why it was reverted.
func (r CallResult) reason() string {
	if r.Text != "" {
		return r.Text
	}
	return known.Read(r.Data).String()
}

// Token is a token before the transaction, towards the contract that pulls it from its payer.
type Token struct {
	IsToken            *bool // has a balance to read
	Balance, Allowance *chain.Amount
	TakesPermit        *bool  // of the envelope
	Transfer           Return // of transfer, by which claims are paid
	TransferFrom       Return
	// What it reverts with for a payer who lacks allowance, or balance.
	LacksAllowance, LacksBalance []byte
}

// Return is what a function of a token returns.
type Return uint8

// Returns of transfer and transferFrom.
const (
	ReturnsUnknown Return = iota
	ReturnsTrue
	ReturnsNothing
	ReturnsFalse
)
