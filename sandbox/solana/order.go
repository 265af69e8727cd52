package solana

import (
	"encoding/binary"
	"math"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// ID is the protocol's ID of this chain, "sol".
const ID = 0x736f6c

// Terms are an order's terms as in the tuple of the contracts' ABI and in Solana's programs: addresses as variable
// bytes, numbers of 256 bits.
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
	ExternalCall      []byte // the call itself; the programs store only its hash

	shortcut *common.Hash // hash of an external call that is not known itself
}

// Offer is one side of an order.
type Offer struct {
	Chain  uint64
	Token  []byte
	Amount *big.Int
}

// Give and Take return the sides of the order.
func (t Terms) Give() Offer { return Offer{t.GiveChain.Uint64(), t.GiveToken, t.GiveAmount} }
func (t Terms) Take() Offer { return Offer{t.TakeChain.Uint64(), t.TakeToken, t.TakeAmount} }

// ID returns the hash of the packed terms: integers big-endian, each variable field after one byte of length
// (dln-contracts, DlnOrderLib).
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

// callHash returns the hash of the external call, which is all that the programs store; nil if there is no call.
func (t Terms) callHash() *common.Hash {
	if len(t.ExternalCall) == 0 {
		return t.shortcut
	}
	return new(crypto.Keccak256Hash(t.ExternalCall))
}

// borsh encodes the order in Borsh.
func (t Terms) borsh() raw {
	return borsh(t.Nonce, t.Maker, t.Give().borsh(), t.Take().borsh(), t.Receiver, t.PatchAuthority, t.Authority,
		optional(t.AllowedTaker), optional(t.CancelBeneficiary), t.callHash())
}

func (o Offer) borsh() raw { return borsh(numberWord(o.Chain), o.Token, word(o.Amount)) }

// Status is the status of one side of an order.
type Status uint8

// Statuses. Each side has some of them.
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

// offerArgs is an Offer as in the programs' arguments.
type offerArgs struct {
	Chain  [32]byte
	Token  []byte
	Amount [32]byte
}

// offer converts the arguments. A chain ID of more than 64 bits becomes one that no peer can have.
func (a offerArgs) offer() Offer {
	o := Offer{math.MaxUint64, a.Token, new(big.Int).SetBytes(a.Amount[:])}
	if id := new(big.Int).SetBytes(a.Chain[:]); id.IsUint64() {
		o.Chain = id.Uint64()
	}
	return o
}

// orderArgs is an order as in the arguments of dln_dst.
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
