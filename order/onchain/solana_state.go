package onchain

import (
	"fmt"
	"strings"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/order"
)

// The accounts of an order on Solana: each of its transactions lists one, so an account's history is the order's.

// GiveOrderAccount returns the account in which dln_src stores an order that is created and claimed there.
func GiveOrderAccount(c chain.Contracts, id order.ID) chain.Address {
	return solana.ProgramAddress(c.DlnSource, []byte("GIVE_ORDER_STATE"), id[:])
}

// TakeOrderAccount returns the account in which dln_dst stores an order's fulfilment or cancellation, and its messages.
func TakeOrderAccount(c chain.Contracts, id order.ID) chain.Address {
	return solana.ProgramAddress(c.DlnDestination, []byte("TAKE_ORDER_STATE"), id[:])
}

// CallAccount returns the account in which the executor stores an external call; absent if the executor is unknown.
func CallAccount(c chain.Contracts, id order.ID) chain.Address {
	if c.ExternalCallAdapter.IsAbsent() {
		return chain.Address{}
	}
	return solana.ProgramAddress(c.ExternalCallAdapter, []byte("META"), id[:])
}

// giveVariants are those of a GiveOrderAccount (IDL of dln_src 3.0.0).
var giveVariants = []order.State{order.StateCreated, order.StateClaimedUnlock, order.StateClaimedOrderCancel}

// DecodeGiveAccount decodes a GiveOrderAccount; without data the order was not created. A missing amount is zero.
func DecodeGiveAccount(data []byte) (stored order.StoredState, err error) {
	if len(data) == 0 {
		return order.StoredState{}, nil
	}
	b, state, err := openState(data, "GiveOrderState", 0, giveVariants)
	if err != nil {
		return order.StoredState{}, err
	}
	if stored.State = state; state == order.StateCreated && b.some() {
		stored.Amount = b.amount64()
	}
	if b.Err != nil {
		return order.StoredState{}, fmt.Errorf("decode GiveOrderState: %w", b.Err)
	}
	return stored, nil
}

// openState decodes the variant that follows some bytes in an account of a kind, named as by Anchor or as in deBridge's
// test IDL.
func openState[S any](data []byte, kind string, before uint64, variants []S) (b *borsh, state S, err error) {
	d, rest := splitDiscriminator(data)
	if d != discriminatorOf("account", kind) && d != discriminatorOf("account", strings.ToLower(kind[:1])+kind[1:]) {
		return nil, state, fmt.Errorf("decode %s: wrong kind of account", kind)
	}
	b = newBorsh(rest)
	b.Take(before)
	variant := int(b.Uint8())
	if b.Err != nil {
		return nil, state, fmt.Errorf("decode %s: %w", kind, b.Err)
	}
	if variant >= len(variants) {
		return nil, state, fmt.Errorf("decode %s: status %d is unknown", kind, variant)
	}
	return b, variants[variant], nil
}

// takeVariants are the variants of a TakeOrderAccount (IDL of dln_dst 1.2.1); the first is that of older programs.
var takeVariants = []order.State{
	order.StateFulfilled, order.StateSentUnlock, order.StateOrderCancelled, order.StateSentOrderCancel, order.StateFulfilled,
}

// DecodeTakeAccount decodes a TakeOrderAccount; without data the order was neither fulfilled nor cancelled.
func DecodeTakeAccount(data []byte) (stored order.StoredState, err error) {
	if len(data) > 0 {
		_, stored.State, err = openState(data, "TakeOrderState", 0, takeVariants)
	}
	return stored, err
}

// callVariants are the variants of a CallAccount (IDL of extcall_program 1.1.1).
var callVariants = []order.ExternalCallState{
	order.AwaitingExecution, order.Executing, order.Completed, order.Failed, order.CancelledCall,
}

// DecodeCallAccount decodes a CallAccount; without data nothing was delivered for the call.
func DecodeCallAccount(data []byte) (state order.ExternalCallState, err error) {
	if len(data) == 0 {
		return order.AwaitingOrderFulfillment, nil
	}
	_, state, err = openState(data, "ExtcallMeta", uint64(len(order.ID{})), callVariants)
	return state, err
}
