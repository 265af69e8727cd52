package solana

import (
	"crypto/sha256"
	"encoding/binary"
	"math/big"
)

// borsh writes Borsh, https://borsh.io: little-endian integers, lengths as u32, options behind one byte.
type borsh []byte

// anchor begins an instruction ("global"), an event or an account as Anchor marks it: the first eight
// bytes of the hash of its kind and name.
func anchor(kind, name string) borsh {
	hash := sha256.Sum256([]byte(kind + ":" + name))
	return borsh(hash[:8])
}

func (b borsh) u8(n byte) borsh     { return append(b, n) }
func (b borsh) u16(n uint16) borsh  { return binary.LittleEndian.AppendUint16(b, n) }
func (b borsh) u32(n uint32) borsh  { return binary.LittleEndian.AppendUint32(b, n) }
func (b borsh) u64(n uint64) borsh  { return binary.LittleEndian.AppendUint64(b, n) }
func (b borsh) raw(v []byte) borsh  { return append(b, v...) }
func (b borsh) key(k Key) borsh     { return append(b, k[:]...) }
func (b borsh) text(s string) borsh { return b.bytes([]byte(s)) }

func (b borsh) bool(v bool) borsh {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

// bytes writes a vector of bytes.
func (b borsh) bytes(v []byte) borsh { return append(b.u32(uint32(len(v))), v...) }

// optional writes a vector of bytes that is absent when empty.
func (b borsh) optional(v []byte) borsh {
	if len(v) == 0 {
		return b.u8(0)
	}
	return b.u8(1).bytes(v)
}

// optionalKey writes a key that is absent when zero.
func (b borsh) optionalKey(k Key) borsh {
	if k == (Key{}) {
		return b.u8(0)
	}
	return b.u8(1).key(k)
}

// word writes a number as the protocol's programs do where EVM has 256 bits: 32 bytes, big-endian.
func (b borsh) word(n *big.Int) borsh { return append(b, n.FillBytes(make([]byte, 32))...) }

// padded writes text into a field of a fixed size behind its length, as Metaplex keeps names.
func (b borsh) padded(text string, size int) borsh {
	field := make([]byte, size)
	copy(field, text)
	return b.bytes(field)
}
