package onchain

import (
	"crypto/sha256"

	"filippo.io/edwards25519"

	"crossgate/chain"
	"crossgate/order"
)

// ProgramAddress derives the account that program has under seeds: of the hashes with a bump that counts
// down from 255 the first that is no point of the curve, so that no key can sign for it
// (solana.com/docs/core/pda). program must be there.
func ProgramAddress(program chain.Address, seeds ...[]byte) chain.Address {
	const marker = "ProgramDerivedAddress"
	for bump := 255; bump >= 0; bump-- {
		hasher := sha256.New()
		for _, seed := range seeds {
			hasher.Write(seed)
		}
		hasher.Write([]byte{byte(bump)})
		hasher.Write(program.Bytes())
		hasher.Write([]byte(marker))
		candidate := hasher.Sum(nil)
		if _, err := new(edwards25519.Point).SetBytes(candidate); err != nil {
			return chain.NewAddress(candidate)
		}
	}
	return chain.Address{} // as likely as 256 tosses of a coin that all come up heads
}

// The accounts of an order on Solana. Every transaction that takes the order a step further names one of
// them, so the history of the account is that of the order.

// GiveOrderAccount is where dln_src keeps an order: created and claimed there.
func GiveOrderAccount(c chain.Contracts, id order.ID) chain.Address {
	return ProgramAddress(c.DlnSource, []byte("GIVE_ORDER_STATE"), id[:])
}

// TakeOrderAccount is where dln_dst keeps an order: fulfilled or cancelled there, and the messages sent.
func TakeOrderAccount(c chain.Contracts, id order.ID) chain.Address {
	return ProgramAddress(c.DlnDestination, []byte("TAKE_ORDER_STATE"), id[:])
}

// CallAccount is where the executor keeps how far an order's external call has come; absent where the
// executor is not known.
func CallAccount(c chain.Contracts, id order.ID) chain.Address {
	if c.ExternalCallAdapter.IsAbsent() {
		return chain.Address{}
	}
	return ProgramAddress(c.ExternalCallAdapter, []byte("META"), id[:])
}

// submissionAccount is where the gate keeps that a message was carried out.
func submissionAccount(c chain.Contracts, submission chain.Hash) chain.Address {
	return ProgramAddress(c.Gate, []byte("SUBMISSION"), submission[:])
}
