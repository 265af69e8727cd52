package creation

import "crossgate/chain"

// State is the part of a chain's state that decides about a creation. A nil field is unknown.
type State struct {
	Chain     chain.ID
	Contracts chain.Contracts // DlnSource, DlnDestination and Router

	Coins *chain.Amount // native coin of the sender
	Code  []byte        // of the sender

	// State of DlnSource.
	Version     string // empty: unknown
	Paused      *bool
	FixedFee    *chain.Amount  // globalFixedNativeFee
	PercentBps  *uint64        // globalTransferFeeBps
	Destination *chain.Address // DlnDestination of the take chain; absent: not set
	Nonce       *uint64        // masterNonce of the sender
	IsUsed      *bool          // an order with the ID exists

	CallsTarget, CallsVenue *bool // whether the router calls them

	Input Token // pulled from the caller by the first contract
	Give  Token // pulled from the router by DlnSource; unused without a swap

	// Executed is the result of a node's simulation of the whole transaction.
	Executed *CallResult
}

// CallResult is the result of a call.
type CallResult struct {
	IsReverted bool
	Data       []byte // return or revert data
	Text       string // error text of the node, if it sends no data
}

// reason returns why the call reverted.
func (r CallResult) reason() string {
	if r.Text != "" {
		return r.Text
	}
	return known.Read(r.Data).String()
}

// Token is a token's state before the transaction, for the contract that pulls it and the payer.
type Token struct {
	IsToken            *bool // it returns a balance
	Balance, Allowance *chain.Amount
	TakesPermit        *bool  // accepts the permit in the envelope
	Transfer           Return // of transfer, which pays claims
	TransferFrom       Return
	// Revert data for a payer who lacks the allowance or the balance.
	LacksAllowance, LacksBalance []byte
}

// Return is the kind of result of a token's function.
type Return uint8

// Results of transfer and transferFrom.
const (
	ReturnsUnknown Return = iota
	ReturnsTrue
	ReturnsNothing
	ReturnsFalse
)
