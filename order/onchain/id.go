package onchain

import (
	"encoding/binary"

	"github.com/ethereum/go-ethereum/crypto"

	"crossgate/chain"
	"crossgate/chain/words"
	"crossgate/order"
)

// ID computes an order's id, the same on every chain: keccak256 of its packed terms.
func ID(t order.Terms) order.ID { return order.ID(crypto.Keccak256Hash(PackTerms(t))) }

// PackTerms writes terms as contracts hash them: integers big-endian, addresses behind a byte of length, the external
// call as its hash behind a flag (DlnOrderLib.sol, encodeOrder).
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
	hash := callHash(t)
	packed = append(packed, 1)
	return append(packed, hash[:]...)
}

// callHash is what contracts keep of an external call.
func callHash(t order.Terms) chain.Hash {
	if len(t.ExternalCall) > 0 {
		return CallHash(t.ExternalCall)
	}
	return t.ExternalCallHash
}

// SwapID is the id of the swap at index in a transaction, in log order from 0: keccak256 of the API's chain number, the
// transaction's hash and the index. It is ours, since contracts do not number swaps, and stays over reorgs.
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

// appendParty relies on the contracts, which refuse addresses of more than 255 bytes.
func appendParty(packed []byte, a chain.Address) []byte {
	packed = append(packed, byte(a.Len()))
	return append(packed, a.Bytes()...)
}
