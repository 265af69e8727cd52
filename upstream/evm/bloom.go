package evm

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/ethereum/go-ethereum/crypto"

	"crossgate/chain"
)

// bloom is the filter of 2048 bits in which every receipt sums up its logs: three bits for the address and
// for each topic (Ethereum yellow paper, section 4.3.1).
type bloom [256]byte

func (b *bloom) add(raw []byte) {
	const bits = 8 * len(b)
	hash := crypto.Keccak256(raw)
	for pair := range 3 {
		bit := int(binary.BigEndian.Uint16(hash[2*pair:])) % bits
		b[len(b)-1-bit/8] |= 1 << (bit % 8)
	}
}

func (b *bloom) holds(raw []byte) bool {
	var one bloom
	one.add(raw)
	for i := range one {
		if b[i]&one[i] != one[i] {
			return false
		}
	}
	return true
}

// headerBloom is the filter of a block; unknown where a node leaves it out or writes something else.
type headerBloom struct {
	bits  bloom
	known bool
}

func (h *headerBloom) UnmarshalJSON(text []byte) error {
	var read filter
	if json.Unmarshal(text, &read) == nil && len(text) > len(read) {
		*h = headerBloom{bloom(read), true}
	}
	return nil
}

func (h *headerBloom) hasBits() bool { return h.bits != bloom{} }

// isTelling reports whether the filter says little by chance: with three tenths of its bits set, that an address and a
// topic which are not there seem to be happens once in a thousand blocks.
func (h *headerBloom) isTelling() bool {
	set := 0
	for _, b := range h.bits {
		set += bits.OnesCount8(b)
	}
	return h.known && set > 0 && set <= 8*len(h.bits)*3/10
}

// holdsAny reports whether a log of one of the addresses with one of the topics may be in the block.
func (h *headerBloom) holdsAny(addresses []chain.Address, topics []chain.Hash) bool {
	return slices.ContainsFunc(addresses, func(a chain.Address) bool { return h.bits.holds(a.Bytes()) }) &&
		slices.ContainsFunc(topics, func(topic chain.Hash) bool { return h.bits.holds(topic[:]) })
}

// checkLogs refuses a receipt whose logs are not all there, or not its own.
func (r *receipt) checkLogs() error {
	r.Logs = distinct(r.Logs)
	var sum bloom
	for i, l := range r.Logs {
		switch {
		case l.TransactionHash != r.TransactionHash || l.BlockHash != r.BlockHash || l.BlockNumber != r.BlockNumber || l.Removed:
			return errors.New("receipt with a log of another transaction")
		case i > 0 && l.Index != r.Logs[i-1].Index+1:
			return fmt.Errorf("receipt with log %d after log %d", l.Index, r.Logs[i-1].Index)
		}
		sum.add(l.Address.Bytes())
		for _, topic := range l.Topics {
			sum.add(topic[:])
		}
	}
	// Nodes of zkSync's and TRON's kind leave the filter empty.
	if said := bloom(r.Bloom); said != (bloom{}) && said != sum {
		return errors.New("receipt with other logs than its filter sums up")
	}
	return nil
}

// filter is a bloom as JSON has it; empty when it is missing.
type filter bloom

func (f *filter) UnmarshalText(text []byte) error {
	var raw Payload
	if err := raw.UnmarshalText(text); err != nil {
		return err
	}
	if len(raw) != 0 && len(raw) != len(f) {
		return fmt.Errorf("filter of %d bytes", len(raw))
	}
	*f = filter{}
	copy(f[:], raw)
	return nil
}
