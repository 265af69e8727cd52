package onchain

import (
	"fmt"

	"crossgate/chain"
	"crossgate/chain/solana"
	"crossgate/chain/words"
	"crossgate/order"
)

// borsh decodes what Solana's programs write about orders (borsh.io).
type borsh struct{ solana.Reader }

func newBorsh(data []byte) *borsh { return &borsh{solana.Reader{Rest: data}} }

func (b *borsh) amount64() chain.Amount { return chain.NewAmount(b.Uint64()) }

// amount256 decodes an amount of any chain: 32 bytes, big-endian.
func (b *borsh) amount256() chain.Amount { return chain.AmountFromBytes(b.Take(32)) }

func (b *borsh) chainID() chain.ID {
	n, fits := b.amount256().Uint64()
	if !fits || n>>63 != 0 {
		b.Fail(words.ErrForeignChain)
		return 0
	}
	return chain.ID(n)
}

func (b *borsh) hash() chain.Hash {
	if raw := b.Take(32); raw != nil {
		return chain.Hash(raw)
	}
	return chain.Hash{}
}

// bytes returns a copy of a byte string; nil only after an error.
func (b *borsh) bytes() []byte {
	content := b.Take(uint64(b.Uint32()))
	if b.Err != nil {
		return nil
	}
	return append([]byte{}, content...)
}

// party decodes an address on either chain: a byte string, empty if absent.
func (b *borsh) party() chain.Address { return chain.NewAddress(b.bytes()) }

// some reports whether an option has a value.
func (b *borsh) some() bool {
	tag := b.Uint8()
	if tag > 1 {
		b.Fail(fmt.Errorf("option with tag %d", tag))
	}
	return tag == 1 && b.Err == nil
}

// optional decodes an option of an address, as read does.
func (b *borsh) optional(read func() chain.Address) (a chain.Address) {
	if b.some() {
		a = read()
	}
	return a
}

func (b *borsh) offer() order.Offer {
	return order.Offer{Chain: b.chainID(), Token: b.party(), Amount: b.amount256()}
}

// terms decodes the programs' Order (IDL of dln_src and dln_dst 3.0.0), which has only the hash of the external call.
func (b *borsh) terms() order.Terms {
	t := order.Terms{
		Nonce:    b.Uint64(),
		Maker:    b.party(),
		Give:     b.offer(),
		Take:     b.offer(),
		Receiver: b.party(),
		Authorities: order.Authorities{
			GivePatch:         b.party(),
			Order:             b.party(),
			AllowedTaker:      b.optional(b.party),
			CancelBeneficiary: b.optional(b.party),
		},
	}
	if b.some() {
		t.ExternalCallHash = b.hash()
	}
	return t
}

// checkID fails if the terms do not have the given ID.
func (b *borsh) checkID(t order.Terms, id order.ID) {
	if b.Err != nil {
		return
	}
	if computed := ID(t); computed != id {
		b.Fail(fmt.Errorf("order id is %s, its terms give %s", id, computed))
	}
}
