package gateway

import (
	"fmt"
	"testing"
	"testing/synctest"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/internal/must"
	"crossgate/order"
	"crossgate/order/audit"
	"crossgate/order/follow"
	"crossgate/store"
)

// TestBackfillReadsWideRanges counts the calls of a backfill of blocks without orders, like most of a chain's, when
// each block is read once and once from each of two providers: at endpoints that search any number of blocks per call,
// as many as public ones, or few. How many searches are rejected before a limit is learned depends on what is in
// flight, so the bounds leave a little room.
func TestBackfillReadsWideRanges(t *testing.T) {
	for _, test := range []struct{ span, history, most uint64 }{{0, 4_000_000, 450}, {5000, 400_000, 400}, {1000, 400_000, 1500}} {
		t.Run(fmt.Sprintf("span %d", test.span), func(t *testing.T) {
			onVirtualClock(t, func(t *testing.T, db *store.DB, c config.Config, o follow.Options) {
				own := c.Chains[2]
				calmly := newCalm(c, own.ID)
				calmly.span = test.span
				calmly.chain.FirstBlock = calmly.head() - test.history
				for i := range own.Endpoints {
					own.Endpoints[i].RequestsPerSecond = 0
				}
				books := audit.Of(follow.New(db, map[chain.ID]order.Source{own.ID: calmly.source(t, c, own)}, o))
				synctest.Wait() // endpoints are asked for their heads in the background
				clear(calmly.calls)
				var last audit.Progress
				must.Do(t, books.Backfill(t.Context(), func(p audit.Progress) { last = p }))
				if !last.Done || last.Read < test.history-10 || last.Read > test.history {
					t.Errorf("at the end %+v, want %d blocks read", last, test.history)
				}
				synctest.Wait()
				total := uint64(calmly.total())
				t.Logf("%d calls for %d blocks: %v", total, last.Read, calmly.calls)
				if total > test.most {
					t.Errorf("%d calls for %d blocks, want %d at most: %v", total, last.Read, test.most, calmly.calls)
				}
			})
		})
	}
}
