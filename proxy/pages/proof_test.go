package pages

import (
	"testing"

	"crossgate/order"
)

func TestEvidenceIsNoMoreThanWasSeen(t *testing.T) {
	followed := order.ChainBasis{Chain: 1, Followed: true, From: order.BlockTime{Number: 100}, Lag: order.Lag{Indexed: 900}, Proven: 800}
	for _, row := range []struct {
		read  order.ChainBasis
		block uint64
		want  string
	}{
		{followed, 800, "read twice; both readings agree"},
		{followed, 100, "read twice; both readings agree"},
		{followed, 801, "read once; to be confirmed when the block is final"},
		{followed, 900, "read once; to be confirmed when the block is final"},
		{followed, 901, "read from the chain for this page"},
		{followed, 99, "older than the index: read from the chain"},
		{order.ChainBasis{Chain: 1}, 0, "read from the chain for this page"},
	} {
		if got := evidence(row.read, row.block); got != row.want {
			t.Errorf("block %d of %+v: %q, want %q", row.block, row.read, got, row.want)
		}
	}
}
