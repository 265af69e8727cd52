package solana

import (
	"encoding/binary"
	"math"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// ID is the protocol's number of this chain, "sol".
const ID = 0x736f6c

// Terms are an order as the tuple of the contracts' ABI has them, and as Solana's programs carry them: addresses as
// free bytes, numbers of 256 bits.
type Terms struct {
	Nonce             uint64   `abi:"makerOrderNonce"`
	Maker             []byte   `abi:"makerSrc"`
	GiveChain         *big.Int `abi:"giveChainId"`
	GiveToken         []byte   `abi:"giveTokenAddress"`
	GiveAmount        *big.Int
	TakeChain         *big.Int `abi:"takeChainId"`
	TakeToken         []byte   `abi:"takeTokenAddress"`
	TakeAmount        *big.Int
	Receiver          []byte `abi:"receiverDst"`
	PatchAuthority    []byte `abi:"givePatchAuthoritySrc"`
	Authority         []byte `abi:"orderAuthorityAddressDst"` // may cancel, on the take chain
	AllowedTaker      []byte `abi:"allowedTakerDst"`
	CancelBeneficiary []byte `abi:"allowedCancelBeneficiarySrc"`
	ExternalCall      []byte // the call itself; the programs keep its hash

	shortcut *common.Hash // of an external call of which no more is known
}

// Offer is one side of an order.
type Offer struct {
	Chain  uint64
	Token  []byte
	Amount *big.Int
}

// Give and Take are the sides of the order.
func (t Terms) Give() Offer { return Offer{t.GiveChain.Uint64(), t.GiveToken, t.GiveAmount} }
func (t Terms) Take() Offer { return Offer{t.TakeChain.Uint64(), t.TakeToken, t.TakeAmount} }

// ID is the hash of the packed terms: integers big-endian, each variable field behind one byte of
// length (dln-contracts, DlnOrderLib).
func (t Terms) ID() [32]byte {
	packed := binary.BigEndian.AppendUint64(nil, t.Nonce)
	field := func(value []byte) { packed = append(append(packed, byte(len(value))), value...) }
	field(t.Maker)
	for _, offer := range []Offer{t.Give(), t.Take()} {
		packed = append(packed, numberWord(offer.Chain)...)
		field(offer.Token)
		packed = append(packed, word(offer.Amount)...)
	}
	for _, right := range [][]byte{t.Receiver, t.PatchAuthority, t.Authority, t.AllowedTaker, t.CancelBeneficiary} {
		field(right)
	}
	return crypto.Keccak256Hash(append(packed, borsh(t.callHash())...))
}

// callHash is what the programs keep of the external call; nil when there is none.
func (t Terms) callHash() *common.Hash {
	if len(t.ExternalCall) == 0 {
		return t.shortcut
	}
	return new(crypto.Keccak256Hash(t.ExternalCall))
}

// borsh is the order in Borsh.
func (t Terms) borsh() raw {
	return borsh(t.Nonce, t.Maker, t.Give().borsh(), t.Take().borsh(), t.Receiver, t.PatchAuthority, t.Authority,
		optional(t.AllowedTaker), optional(t.CancelBeneficiary), t.callHash())
}

func (o Offer) borsh() raw { return borsh(numberWord(o.Chain), o.Token, word(o.Amount)) }

// Status of one side of an order.
type Status uint8

// Statuses, of which each side shows some.
const (
	Absent Status = iota
	Created
	ClaimedUnlock
	ClaimedCancel
	Fulfilled
	SentUnlock
	Cancelled
	SentCancel
)

// offerArgs is an Offer as the programs' arguments have it.
type offerArgs struct {
	Chain  [32]byte
	Token  []byte
	Amount [32]byte
}

// offer has a chain that no peer can have in place of one of more than 64 bits.
func (a offerArgs) offer() Offer {
	o := Offer{math.MaxUint64, a.Token, new(big.Int).SetBytes(a.Amount[:])}
	if id := new(big.Int).SetBytes(a.Chain[:]); id.IsUint64() {
		o.Chain = id.Uint64()
	}
	return o
}

// orderArgs is an order as the arguments of dln_dst have it.
type orderArgs struct {
	Nonce             uint64
	Maker             []byte
	Give, Take        offerArgs
	Receiver          []byte
	PatchAuthority    []byte
	Authority         []byte
	AllowedTaker      *[]byte      `bin:"optional"`
	CancelBeneficiary *[]byte      `bin:"optional"`
	Shortcut          *common.Hash `bin:"optional"`
	ID                common.Hash
}

func (a orderArgs) terms() Terms {
	t := Terms{
		Nonce: a.Nonce, Maker: a.Maker, Receiver: a.Receiver, PatchAuthority: a.PatchAuthority, Authority: a.Authority,
		GiveChain: new(big.Int).SetBytes(a.Give.Chain[:]), GiveToken: a.Give.Token, GiveAmount: a.Give.offer().Amount,
		TakeChain: new(big.Int).SetBytes(a.Take.Chain[:]), TakeToken: a.Take.Token, TakeAmount: a.Take.offer().Amount,
		shortcut: a.Shortcut,
	}
	if a.AllowedTaker != nil {
		t.AllowedTaker = *a.AllowedTaker
	}
	if a.CancelBeneficiary != nil {
		t.CancelBeneficiary = *a.CancelBeneficiary
	}
	return t
}
