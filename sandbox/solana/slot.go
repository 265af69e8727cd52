package solana

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/gagliardetto/solana-go"
)

// Parameters of the sandbox's chain. A slot number follows from the time since the beginning, so that history's slots
// are the same at every start.
const (
	firstSlot    = 310_000_000
	slotDuration = 400 * time.Millisecond
	// finalizedDepth is how far the finalized slot is behind the confirmed one: 32, as votes require.
	finalizedDepth = 32
	// Every skipEvery-th slot has no block, as if a leader had missed its turn.
	skipEvery = 37
	// heightGap is how many blocks the height was behind the slot when the ledger began.
	heightGap = 21_700_000
	// hashLife is the number of blocks for which a blockhash is valid.
	hashLife = 150
)

func isSkipped(slot uint64) bool { return slot%skipEvery == 0 }

// height returns the number of blocks up to a slot, without skipped slots.
func height(slot uint64) uint64 { return slot - slot/skipEvery - heightGap }

// next returns the first slot after slot that has a block.
func next(slot uint64) uint64 {
	for slot++; isSkipped(slot); {
		slot++
	}
	return slot
}

// previous returns the last slot before slot that has a block.
func previous(slot uint64) uint64 {
	for slot--; isSkipped(slot); {
		slot--
	}
	return slot
}

// slotAt returns the slot at a time, or the next one with a block.
func (c *Chain) slotAt(at time.Time) uint64 {
	slot := uint64(firstSlot + max(0, at.Sub(c.beginning)/slotDuration))
	if isSkipped(slot) {
		slot++
	}
	return slot
}

// timeOf returns when a slot's block was made, in UNIX seconds as nodes estimate it.
func (c *Chain) timeOf(slot uint64) int64 {
	return c.beginning.Add(time.Duration(slot-firstSlot) * slotDuration).Unix()
}

// blockhash returns the hash of slot's block on the current fork.
func (c *Chain) blockhash(slot uint64) solana.Hash {
	forks := uint64(0)
	for i, from := range c.forks {
		if from <= slot {
			forks = uint64(i) + 1
		}
	}
	preimage := []byte("crossgate sandbox: solana block ")
	preimage = binary.BigEndian.AppendUint64(preimage, slot)
	return sha256.Sum256(binary.BigEndian.AppendUint64(preimage, forks))
}

// isRecent reports whether a blockhash is still valid.
func (c *Chain) isRecent(hash solana.Hash) bool {
	slot := c.head
	for n := 0; n < hashLife && slot > firstSlot; n++ {
		if c.blockhash(slot) == hash {
			return true
		}
		slot = previous(slot)
	}
	return false
}
