package follow

import (
	"time"

	"crossgate/chain"
	"crossgate/order"
)

// heads is what a chain told of its newest blocks. Whoever has it guards it.
type heads struct {
	newest    chain.Hash   // of the newest block that the chain reported
	Epoch     *order.Epoch // since then
	Head      order.Block  // that block, as soon as it was compared with those that were read
	finalized uint64       // newest block past any reorg
	seenTo    uint64       // newest block that another replica stored since the last head was read, where that is later; else 0
}

// newestNumber is the number of the newest block that is known of the chain; 0 before the first.
func (h *heads) newestNumber() uint64 { return max(h.Head.Number, h.seenTo) }

// reported takes note of the newest block that the chain reports. Another one than before ends the epoch.
func (h *heads) reported(newest chain.Hash) {
	if h.newest != newest {
		h.newest = newest
		h.beginEpoch()
	}
}

// overtaken ends the epoch when a block is stored that is later than the newest that was seen here.
func (h *heads) overtaken(block uint64) {
	if block > h.newestNumber() {
		h.seenTo = block
		h.beginEpoch()
	}
}

func (h *heads) beginEpoch() {
	h.Epoch.End()
	h.Epoch = &order.Epoch{Began: time.Now()}
}

// compared takes note of a head that was compared with the blocks that were read.
func (h *heads) compared(head order.Head) {
	h.Head, h.finalized, h.seenTo = head.Latest, head.Finalized, 0
}

// Contradict reports whether two heads read one after the other cannot be of one branch.
func Contradict(before, now order.Block) bool {
	switch {
	case before.Hash == chain.Hash{}:
		return false
	case now.Number == before.Number:
		return now.Hash != before.Hash
	case now.Number == before.Number+1:
		return now.Parent != before.Hash
	case now.Number+1 == before.Number: // an endpoint that is behind another one
		return now.Hash != before.Parent
	}
	return false
}
