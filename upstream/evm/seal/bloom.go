package seal

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
	"slices"

	"github.com/ethereum/go-ethereum/crypto"

	"crossgate/chain"
)

// Bloom is the filter of 2048 bits in which every receipt sums up its logs: three bits for the address and for each
// topic (Ethereum yellow paper, section 4.3.1). Empty if it is missing.
type Bloom [256]byte

// Add adds an address or a topic.
func (b *Bloom) Add(raw []byte) {
	const bits = 8 * len(b)
	hash := crypto.Keccak256(raw)
	for pair := range 3 {
		bit := int(binary.BigEndian.Uint16(hash[2*pair:])) % bits
		b[len(b)-1-bit/8] |= 1 << (bit % 8)
	}
}

func (b *Bloom) holds(raw []byte) bool {
	var one Bloom
	one.Add(raw)
	for i := range one {
		if b[i]&one[i] != one[i] {
			return false
		}
	}
	return true
}

// HeaderBloom is the filter of a block; unknown if a node omits it or sends something else.
type HeaderBloom struct {
	Bits  Bloom
	Known bool
}

func (h *HeaderBloom) UnmarshalJSON(text []byte) error {
	var read Bloom
	if read.UnmarshalText(bytes.Trim(text, `"`)) == nil && len(text) > len(read) {
		*h = HeaderBloom{read, true}
	}
	return nil
}

// HasBits reports whether the filter is not empty.
func (h *HeaderBloom) HasBits() bool { return h.Bits != Bloom{} }

// IsSparse reports whether the filter rarely matches by chance: with three tenths of its bits set, an address and a
// topic that are both absent match in one of a thousand blocks.
func (h *HeaderBloom) IsSparse() bool {
	set := 0
	for _, b := range h.Bits {
		set += bits.OnesCount8(b)
	}
	return h.Known && set > 0 && set <= 8*len(h.Bits)*3/10
}

// HoldsAny reports whether a log of one of the addresses with one of the topics may be in the block.
func (h *HeaderBloom) HoldsAny(addresses []chain.Address, topics []chain.Hash) bool {
	return slices.ContainsFunc(addresses, func(a chain.Address) bool { return h.Bits.holds(a.Bytes()) }) &&
		slices.ContainsFunc(topics, func(topic chain.Hash) bool { return h.Bits.holds(topic[:]) })
}

// UnmarshalText decodes 0x and hexadecimal digits.
func (b *Bloom) UnmarshalText(text []byte) error {
	digits, isPrefixed := bytes.CutPrefix(text, []byte("0x"))
	*b = Bloom{}
	if !isPrefixed || len(digits) != 0 && len(digits) != 2*len(b) {
		return fmt.Errorf("filter of %d digits", len(digits))
	}
	_, err := hex.Decode(b[:], digits)
	return err
}
