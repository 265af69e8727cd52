package solana

import (
	"encoding/binary"
	"math/big"

	"github.com/ethereum/go-ethereum/crypto"
)

// ID is the protocol's number of this chain, "sol".
const ID = 0x736f6c

// Terms are an order as the programs carry it: addresses as free bytes, numbers of 256 bits.
type Terms struct {
	Nonce             uint64
	Maker             []byte
	Give, Take        Offer
	Receiver          []byte
	PatchAuthority    []byte
	Authority         []byte // may cancel, on the take chain
	AllowedTaker      []byte
	CancelBeneficiary []byte
	ExternalCall      []byte // the call itself; the programs keep its hash
}

// Offer is one side of an order.
type Offer struct {
	Chain  uint64
	Token  []byte
	Amount *big.Int
}

// ID is the hash of the packed terms: integers big-endian, each variable field behind one byte of
// length (dln-contracts, DlnOrderLib).
func (t Terms) ID() [32]byte {
	out := binary.BigEndian.AppendUint64(nil, t.Nonce)
	field := func(value []byte) { out = append(append(out, byte(len(value))), value...) }
	number := func(n *big.Int) { out = append(out, n.FillBytes(make([]byte, 32))...) }
	field(t.Maker)
	for _, offer := range []Offer{t.Give, t.Take} {
		number(new(big.Int).SetUint64(offer.Chain))
		field(offer.Token)
		number(offer.Amount)
	}
	for _, right := range [][]byte{t.Receiver, t.PatchAuthority, t.Authority, t.AllowedTaker, t.CancelBeneficiary} {
		field(right)
	}
	if len(t.ExternalCall) == 0 {
		return crypto.Keccak256Hash(append(out, 0))
	}
	return crypto.Keccak256Hash(append(append(out, 1), crypto.Keccak256(t.ExternalCall)...))
}

// order writes the terms as Borsh. Of the external call only the hash is kept.
func (b borsh) order(t Terms) borsh {
	b = b.u64(t.Nonce).bytes(t.Maker).offer(t.Give).offer(t.Take)
	b = b.bytes(t.Receiver).bytes(t.PatchAuthority).bytes(t.Authority)
	b = b.optional(t.AllowedTaker).optional(t.CancelBeneficiary)
	if len(t.ExternalCall) == 0 {
		return b.u8(0)
	}
	return b.u8(1).raw(crypto.Keccak256(t.ExternalCall))
}

func (b borsh) offer(o Offer) borsh {
	return b.word(new(big.Int).SetUint64(o.Chain)).bytes(o.Token).word(o.Amount)
}

// chainSeed is a chain's number as it stands in seeds and accounts.
func chainSeed(id uint64) []byte { return borsh{}.word(new(big.Int).SetUint64(id)) }
