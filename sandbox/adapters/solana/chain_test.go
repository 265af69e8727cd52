package solana_test

import (
	"errors"
	"testing"

	"crossgate/order"
)

func TestHeadIsConfirmed(t *testing.T) {
	w := newWorld(t)
	w.Mine(100)
	head, err := w.chain().Head(t.Context())
	if err != nil || head.Latest.Number != w.Head() || head.Latest.Hash.IsAbsent() || head.Latest.Time == 0 {
		t.Errorf("Head = %+v, %v, want block %d", head, err, w.Head())
	}
	if head.Finalized >= head.Latest.Number || head.Latest.Number-head.Finalized > 40 {
		t.Errorf("finalized block %d, newest %d", head.Finalized, head.Latest.Number)
	}
}

// TestBlockLeavesNoGaps asks for every slot: those without a block have the one before them.
func TestBlockLeavesNoGaps(t *testing.T) {
	w := newWorld(t)
	w.Mine(80)
	c := w.chain()
	first, err := c.Block(t.Context(), 0)
	if err != nil || first.Number == 0 {
		t.Fatalf("Block(0) = %+v, %v, want the oldest block there is", first, err)
	}
	before, skipped := first, 0
	for slot := first.Number + 1; slot <= w.Head(); slot++ {
		got, err := c.Block(t.Context(), slot)
		switch {
		case err != nil:
			t.Fatalf("Block(%d): %v", slot, err)
		case got == before:
			skipped++
		case got.Number != slot || got.Parent != before.Hash || got.Time < before.Time:
			t.Fatalf("Block(%d) = %+v, the block before it is %+v", slot, got, before)
		}
		before = got
	}
	if skipped == 0 {
		t.Error("no slot was skipped")
	}
	if got, err := c.Block(t.Context(), w.Head()+1); !errors.Is(err, order.ErrNotFound) {
		t.Errorf("Block beyond the head = %+v, %v, want ErrNotFound", got, err)
	}
}
