package onchain

import (
	"encoding/binary"
	"fmt"

	"crossgate/chain"
	"crossgate/order"
)

// borsh reads the encoding of Solana programs from front to back: integers little-endian, byte strings
// behind four bytes of length, options behind a tag (borsh.io). The first mistake stays; after it zero
// values are read. Whatever follows what was read does not matter.
type borsh struct {
	rest    []byte
	mistake error
}

func (b *borsh) fail(err error) {
	if b.mistake == nil {
		b.mistake = err
	}
}

// take returns the next length bytes, nil when there are fewer.
func (b *borsh) take(length uint64) []byte {
	if b.mistake == nil && length > uint64(len(b.rest)) {
		b.fail(fmt.Errorf("want %d bytes, %d are left", length, len(b.rest)))
	}
	if b.mistake != nil {
		return nil
	}
	taken := b.rest[:length]
	b.rest = b.rest[length:]
	return taken
}

func (b *borsh) uint8() uint8 {
	if raw := b.take(1); raw != nil {
		return raw[0]
	}
	return 0
}

func (b *borsh) uint32() uint32 {
	if raw := b.take(4); raw != nil {
		return binary.LittleEndian.Uint32(raw)
	}
	return 0
}

func (b *borsh) uint64() uint64 {
	if raw := b.take(8); raw != nil {
		return binary.LittleEndian.Uint64(raw)
	}
	return 0
}

// amount64 reads an amount of a Solana token.
func (b *borsh) amount64() chain.Amount { return chain.NewAmount(b.uint64()) }

// amount256 reads an amount of any chain: 32 bytes, big-endian.
func (b *borsh) amount256() chain.Amount { return chain.AmountFromBytes(b.take(32)) }

func (b *borsh) chainID() chain.ID {
	n, fits := b.amount256().Uint64()
	if !fits || n>>63 != 0 {
		b.fail(errForeignChain)
		return 0
	}
	return chain.ID(n)
}

func (b *borsh) hash() chain.Hash {
	if raw := b.take(32); raw != nil {
		return chain.Hash(raw)
	}
	return chain.Hash{}
}

// key reads an account of Solana.
func (b *borsh) key() chain.Address { return chain.NewAddress(b.take(32)) }

// bytes returns a copy of a byte string; it is nil only after a mistake.
func (b *borsh) bytes() []byte {
	content := b.take(uint64(b.uint32()))
	if b.mistake != nil {
		return nil
	}
	return append([]byte{}, content...)
}

// party reads an address of either chain: a byte string, empty when absent.
func (b *borsh) party() chain.Address { return chain.NewAddress(b.bytes()) }

// some reports whether an option holds something.
func (b *borsh) some() bool {
	tag := b.uint8()
	if tag > 1 {
		b.fail(fmt.Errorf("option with tag %d", tag))
	}
	return tag == 1 && b.mistake == nil
}

func (b *borsh) optionalParty() chain.Address {
	if b.some() {
		return b.party()
	}
	return chain.Address{}
}

func (b *borsh) optionalKey() chain.Address {
	if b.some() {
		return b.key()
	}
	return chain.Address{}
}

func (b *borsh) offer() order.Offer {
	return order.Offer{Chain: b.chainID(), Token: b.party(), Amount: b.amount256()}
}

// terms reads the programs' Order (IDL of dln_src and dln_dst 3.0.0). Of the external call it holds the hash.
func (b *borsh) terms() order.Terms {
	t := order.Terms{
		Nonce:    b.uint64(),
		Maker:    b.party(),
		Give:     b.offer(),
		Take:     b.offer(),
		Receiver: b.party(),
		Authorities: order.Authorities{
			GivePatch:         b.party(),
			Order:             b.party(),
			AllowedTaker:      b.optionalParty(),
			CancelBeneficiary: b.optionalParty(),
		},
	}
	if b.some() {
		t.ExternalCallHash = b.hash()
	}
	return t
}

// checkID refuses terms that do not give the id they came with.
func (b *borsh) checkID(t order.Terms, id order.ID) {
	if b.mistake != nil {
		return
	}
	if computed := ID(t); computed != id {
		b.fail(fmt.Errorf("order id is %s, its terms give %s", id, computed))
	}
}
