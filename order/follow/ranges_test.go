package follow

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"crossgate/order/ledger"
)

// TestReadingAheadIsBounded reads ranges from a source that is far faster than the store.
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
				synctest.Wait() // until everybody has read what may be read
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
