package index

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// TestReadingAheadIsBounded reads ranges from a source that is far faster than the store.
func TestReadingAheadIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ranges, places = 50, 3
		spare := make(chan struct{}, places)
		var planned, stored uint64
		var read atomic.Uint64
		err := inSequence(t.Context(), spare,
			func() (blocks, bool) {
				planned++
				return blocks{planned, planned}, planned <= ranges
			},
			func(_ context.Context, r blocks) (rangeEvents, error) {
				read.Add(1)
				return rangeEvents{blocks: r}, nil
			},
			func(got rangeEvents, err error) error {
				synctest.Wait() // until everybody has read what may be read
				if ahead := read.Load() - stored; ahead > places+1 {
					t.Fatalf("%d ranges are in memory, want %d at most", ahead, places+1)
				}
				if stored++; got.to != stored || err != nil {
					t.Fatalf("range %d comes after %d, %v", got.to, stored-1, err)
				}
				return nil
			})
		if err != nil || stored != ranges || len(spare) != 0 {
			t.Errorf("%d ranges are stored and %d places taken, %v, want %d and none", stored, len(spare), err, ranges)
		}
	})
}
