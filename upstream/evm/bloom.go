package evm

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/crypto"
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

// checkLogs refuses a receipt whose logs are not all there, or not its own.
func (r *receipt) checkLogs() error {
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
	var raw payload
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
