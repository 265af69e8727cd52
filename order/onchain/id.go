package onchain

import (
	"encoding/binary"

	"github.com/ethereum/go-ethereum/crypto"

	"crossgate/chain"
	"crossgate/order"
)

// ID computes an order's id, the same on every chain: keccak256 of its packed terms.
func ID(t order.Terms) order.ID { return order.ID(crypto.Keccak256Hash(PackTerms(t))) }

// PackTerms writes terms as the contracts hash them: integers big-endian, every address behind one
// byte of length, the external call as its hash behind a flag
// (dln-contracts, libraries/DlnOrderLib.sol, encodeOrder).
func PackTerms(t order.Terms) []byte {
	packed := make([]byte, 0, 512)
	packed = binary.BigEndian.AppendUint64(packed, t.Nonce)
	packed = appendParty(packed, t.Maker)
	packed = appendOffer(packed, t.Give)
	packed = appendOffer(packed, t.Take)
	packed = appendParty(packed, t.Receiver)
	packed = appendParty(packed, t.Authorities.GivePatch)
	packed = appendParty(packed, t.Authorities.Order)
	packed = appendParty(packed, t.Authorities.AllowedTaker)
	packed = appendParty(packed, t.Authorities.CancelBeneficiary)
	if !t.HasExternalCall() {
		return append(packed, 0)
	}
	hash := t.ExternalCallHash
	if len(t.ExternalCall) > 0 {
		hash = chain.Hash(crypto.Keccak256Hash(t.ExternalCall))
	}
	packed = append(packed, 1)
	return append(packed, hash[:]...)
}

func appendOffer(packed []byte, o order.Offer) []byte {
	packed = appendAmount(packed, chain.NewAmount(uint64(o.Chain)))
	packed = appendParty(packed, o.Token)
	return appendAmount(packed, o.Amount)
}

func appendAmount(packed []byte, a chain.Amount) []byte {
	word := a.Bytes32()
	return append(packed, word[:]...)
}

// appendParty relies on the contracts, which refuse addresses of more than 255 bytes.
func appendParty(packed []byte, a chain.Address) []byte {
	packed = append(packed, byte(a.Len()))
	return append(packed, a.Bytes()...)
}
