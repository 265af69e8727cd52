package onchain

import (
	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/order"
)

// The accounts of an order on Solana: each of its transactions names one, so the account's history is the order's.

// GiveOrderAccount is where dln_src keeps an order: created and claimed there.
func GiveOrderAccount(c chain.Contracts, id order.ID) chain.Address {
	return solana.ProgramAddress(c.DlnSource, []byte("GIVE_ORDER_STATE"), id[:])
}

// TakeOrderAccount is where dln_dst keeps an order: fulfilled or cancelled there, and the messages sent.
func TakeOrderAccount(c chain.Contracts, id order.ID) chain.Address {
	return solana.ProgramAddress(c.DlnDestination, []byte("TAKE_ORDER_STATE"), id[:])
}

// CallAccount is where the executor keeps an order's external call; absent where the executor is not known.
func CallAccount(c chain.Contracts, id order.ID) chain.Address {
	if c.ExternalCallAdapter.IsAbsent() {
		return chain.Address{}
	}
	return solana.ProgramAddress(c.ExternalCallAdapter, []byte("META"), id[:])
}

// submissionAccount is where the gate keeps that a message was carried out.
func submissionAccount(c chain.Contracts, submission chain.Hash) chain.Address {
	return solana.ProgramAddress(c.Gate, []byte("SUBMISSION"), submission[:])
}
