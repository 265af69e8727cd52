package follow

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/order/ledger"
)

// TestReadingAheadIsBounded reads ranges from a source that is much faster than the store.
func TestReadingAheadIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ranges, places = 50, 3
		spare := make(chan struct{}, places)
		var planned, stored uint64
		var read atomic.Uint64
		err := InSequence(t.Context(), spare,
			func() (ledger.Range, bool) {
				planned++
				return ledger.Range{From: planned, To: planned}, planned <= ranges
			},
			func(_ context.Context, r ledger.Range) (ledger.Contents, error) {
				read.Add(1)
				return ledger.Contents{Range: r}, nil
			},
			func(got ledger.Contents, err error) error {
				synctest.Wait() // until all permitted ranges are read
				if ahead := read.Load() - stored; ahead > places+1 {
					t.Fatalf("%d ranges are in memory, want %d at most", ahead, places+1)
				}
				if stored++; got.To != stored || err != nil {
					t.Fatalf("range %d comes after %d, %v", got.To, stored-1, err)
				}
				return nil
			})
		if err != nil || stored != ranges || len(spare) != 0 {
			t.Errorf("%d ranges are stored and %d places taken, %v, want %d and none", stored, len(spare), err, ranges)
		}
	})
}

func TestHeadsThatContradictEachOther(t *testing.T) {
	block := func(number uint64, hash, parent byte) order.Block {
		return order.Block{Number: number, Hash: chain.Hash{hash}, Parent: chain.Hash{parent}}
	}
	before := block(5, 'e', 'd')
	for _, test := range []struct {
		now  order.Block
		want bool
	}{
		{before, false},
		{block(5, 'E', 'd'), true},
		{block(6, 'f', 'e'), false},
		{block(6, 'F', 'E'), true},
		{block(4, 'd', 'c'), false}, // from an endpoint that is behind
		{block(4, 'D', 'c'), true},
		{block(9, 'x', 'y'), false}, // unknown before the comparison
		{block(1, 'x', 'y'), false},
	} {
		if got := contradict(before, test.now); got != test.want {
			t.Errorf("head %d %c after 5 e: contradiction %v, want %v", test.now.Number, test.now.Hash[0], got, test.want)
		}
	}
	if contradict(order.Block{}, before) {
		t.Error("the first head contradicts nothing")
	}
}
