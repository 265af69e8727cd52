package onchain

import (
	"encoding/binary"

	"github.com/ethereum/go-ethereum/crypto"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/order"
)

// ID computes an order's ID, the same on every chain: the keccak256 of its packed terms.
func ID(t order.Terms) order.ID { return order.ID(crypto.Keccak256Hash(PackTerms(t))) }

// PackTerms encodes terms as contracts hash them: integers big-endian, addresses after their length in a byte, the
// external call as its hash after a flag (DlnOrderLib.sol, encodeOrder).
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
	hash := CallHashOf(t)
	packed = append(packed, 1)
	return append(packed, hash[:]...)
}

// CallHashOf returns the hash of an order's external call.
func CallHashOf(t order.Terms) chain.Hash {
	if len(t.ExternalCall) > 0 {
		return CallHash(t.ExternalCall)
	}
	return t.ExternalCallHash
}

// SwapID returns the ID of the swap at index, in log order from 0, in a transaction: the keccak256 of the API's chain
// number, the transaction hash and the index. It is our own, since contracts do not number swaps, and survives reorgs.
func SwapID(id chain.ID, tx chain.TxHash, index int) order.ID {
	packed := appendAmount(make([]byte, 0, 3*words.Size), chain.NewAmount(uint64(id)))
	packed = append(packed, tx.Bytes()...)
	return order.ID(crypto.Keccak256Hash(appendAmount(packed, chain.NewAmount(uint64(index)))))
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

// appendParty relies on the contracts, which reject addresses of more than 255 bytes.
func appendParty(packed []byte, a chain.Address) []byte {
	packed = append(packed, byte(a.Len()))
	return append(packed, a.Bytes()...)
}
