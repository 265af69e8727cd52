package onchain

import (
	"encoding/binary"
	"errors"
	"fmt"

	"crossgate/chain"
	"crossgate/order"
)

// SolanaCreation is the input of dln_src for an order: the arguments of create_order and create_order_with_nonce (IDL
// 3.0.0).
type SolanaCreation struct {
	GiveAmount   chain.Amount // gross; at most 64 bits
	Take         order.Offer
	Receiver     chain.Address
	ExternalCall []byte
	Authorities  order.Authorities
	Affiliate    *order.Affiliate
	ReferralCode uint32  // 0 if none
	Nonce        *uint64 // nil: the program's counter of the maker; then there is no Metadata
	Metadata     []byte
}

var (
	createOrder          = discriminatorOf("global", "create_order")
	createOrderWithNonce = discriminatorOf("global", "create_order_with_nonce")
)

// ErrOtherInstruction says that an instruction creates no order.
var ErrOtherInstruction = errors.New("instruction that creates no order")

// ParseSolanaCreation decodes the data of an instruction of dln_src. Like the program, it ignores bytes after the
// arguments.
func ParseSolanaCreation(data []byte) (SolanaCreation, error) {
	d, rest := splitDiscriminator(data)
	if d != createOrder && d != createOrderWithNonce {
		return SolanaCreation{}, ErrOtherInstruction
	}
	b := newBorsh(rest)
	c := b.creation()
	if d == createOrderWithNonce {
		nonce := b.Uint64()
		c.Nonce, c.Metadata = &nonce, b.bytes()
	}
	if b.Err != nil {
		return SolanaCreation{}, fmt.Errorf("arguments of create_order: %w", b.Err)
	}
	return c, nil
}

func (b *borsh) creation() SolanaCreation {
	c := SolanaCreation{GiveAmount: b.amount64(), Take: b.offer(), Receiver: b.party()}
	if b.some() {
		c.ExternalCall = b.bytes()
	}
	c.Authorities = order.Authorities{
		GivePatch: b.Key(), CancelBeneficiary: b.optional(b.Key), Order: b.party(), AllowedTaker: b.optional(b.party),
	}
	if b.some() {
		c.Affiliate = &order.Affiliate{Beneficiary: b.Key(), Amount: b.amount64()}
	}
	if b.some() {
		c.ReferralCode = b.Uint32()
	}
	return c
}

// Data encodes the creation; it is the inverse of ParseSolanaCreation.
func (c SolanaCreation) Data() []byte {
	name := createOrderWithNonce
	if c.Nonce == nil {
		name = createOrder
	}
	var share borshBytes
	if c.Affiliate != nil {
		share = share.key(c.Affiliate.Beneficiary).u64(c.Affiliate.Amount)
	}
	w := borshBytes(name[:]).u64(c.GiveAmount).offer(c.Take).party(c.Receiver)
	w = w.option(len(c.ExternalCall) > 0, borshBytes{}.bytes(c.ExternalCall)).key(c.Authorities.GivePatch)
	w = w.option(!c.Authorities.CancelBeneficiary.IsAbsent(), borshBytes{}.key(c.Authorities.CancelBeneficiary))
	w = w.party(c.Authorities.Order).optionalParty(c.Authorities.AllowedTaker).option(c.Affiliate != nil, share)
	w = w.option(c.ReferralCode != 0, binary.LittleEndian.AppendUint32(nil, c.ReferralCode))
	if c.Nonce != nil {
		w = borshBytes(binary.LittleEndian.AppendUint64(w, *c.Nonce)).bytes(c.Metadata)
	}
	return w
}

// SolanaCancellation returns the data of dln_dst's cancel_order. An external call must be in the terms, or its hash.
func SolanaCancellation(t order.Terms) []byte {
	name, id := discriminatorOf("global", "cancel_order"), ID(t)
	return append(borshBytes(name[:]).terms(t), id[:]...)
}

// SolanaCancelMessage returns the data of send_order_cancel; beneficiary is the refund's address on the give chain.
func SolanaCancelMessage(id order.ID, beneficiary chain.Address) []byte {
	return solanaMessage("send_order_cancel", id[:], beneficiary)
}

// SolanaUnlockMessage returns the data of send_unlock, or of send_batch_unlock, whose accounts identify the orders.
func SolanaUnlockMessage(beneficiary chain.Address, ids ...order.ID) []byte {
	if len(ids) > 1 {
		return solanaMessage("send_batch_unlock", nil, beneficiary)
	}
	return solanaMessage("send_unlock", ids[0][:], beneficiary)
}

// solanaMessage pays nothing for executing the message: the protocol's own keepers do that.
func solanaMessage(name string, id []byte, beneficiary chain.Address) []byte {
	d, nothing := discriminatorOf("global", name), [8]byte{}
	return append(borshBytes(append(d[:], id...)).party(beneficiary), nothing[:]...)
}

// SolanaPreparation returns the data of dln_dst's prepare_send, which precedes every message.
func SolanaPreparation() []byte {
	name := discriminatorOf("global", "prepare_send")
	return name[:]
}

// SolanaFallback returns the data of the executor's make_fallback, with which an order's authority gives up its call.
func SolanaFallback(id order.ID) []byte { return append(makeFallback[:], id[:]...) }

// borshBytes encodes what borsh decodes.
type borshBytes []byte

func (w borshBytes) u64(a chain.Amount) borshBytes {
	n, _ := a.Uint64()
	return binary.LittleEndian.AppendUint64(w, n)
}

func (w borshBytes) bytes(b []byte) borshBytes {
	return append(binary.LittleEndian.AppendUint32(w, uint32(len(b))), b...)
}

func (w borshBytes) party(a chain.Address) borshBytes { return w.bytes(a.Bytes()) }

func (w borshBytes) key(a chain.Address) borshBytes { return append(w, a.Bytes()...) }

// option encodes an option, which has the content if is.
func (w borshBytes) option(is bool, content []byte) borshBytes {
	if !is {
		return append(w, 0)
	}
	return append(append(w, 1), content...)
}

func (w borshBytes) optionalParty(a chain.Address) borshBytes {
	return w.option(!a.IsAbsent(), borshBytes{}.party(a))
}

func (w borshBytes) offer(o order.Offer) borshBytes {
	id, amount := chain.NewAmount(uint64(o.Chain)).Bytes32(), o.Amount.Bytes32()
	w = append(w, id[:]...)
	return append(w.party(o.Token), amount[:]...)
}

// terms encodes the programs' Order; see borsh.terms.
func (w borshBytes) terms(t order.Terms) borshBytes {
	w = w.u64(chain.NewAmount(t.Nonce)).party(t.Maker).offer(t.Give).offer(t.Take).party(t.Receiver)
	w = w.party(t.Authorities.GivePatch).party(t.Authorities.Order)
	hash := CallHashOf(t)
	w = w.optionalParty(t.Authorities.AllowedTaker).optionalParty(t.Authorities.CancelBeneficiary)
	return w.option(t.HasExternalCall(), hash[:])
}
