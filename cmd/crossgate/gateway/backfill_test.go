package gateway

import (
	"testing"
	"testing/synctest"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/order"
	"crossgate/order/index"
	"crossgate/store"
)

// TestBackfillReadsWideRanges counts what a backfill of blocks without orders takes, which most of a chain's are.
func TestBackfillReadsWideRanges(t *testing.T) {
	const (
		history = 400_000 // blocks
		most    = 400     // calls, for two readings of each block; in ranges of 2,000 blocks they were 1,014
	)
	onVirtualClock(t, func(t *testing.T, db *store.DB, c config.Config, o index.Options) {
		own := c.Chains[2]
		calmly := newCalm(c, own.ID)
		calmly.chain.FirstBlock = calmly.head() - history
		for i := range own.Endpoints {
			own.Endpoints[i].RequestsPerSecond = 0
		}
		x := index.New(db, map[chain.ID]order.Source{own.ID: calmly.source(t, c, own)}, o)
		estimate := x.EstimateBackfill(t.Context())[0]
		synctest.Wait() // endpoints are asked for their heads in the background
		clear(calmly.calls)
		var last index.Progress
		if err := x.Backfill(t.Context(), func(p index.Progress) { last = p }); err != nil {
			t.Fatal(err)
		}
		if !last.Done || last.Read < history-10 || last.Read > history {
			t.Errorf("at the end %+v, want %d blocks read", last, history)
		}
		synctest.Wait()
		total := calmly.total()
		t.Logf("%d calls for %d blocks: %v", total, last.Read, calmly.calls)
		if estimate.Err != nil || estimate.Blocks() < history-10 || estimate.Calls < uint64(total)*8/10 || estimate.Calls > uint64(total)*12/10 {
			t.Errorf("estimated %+v, want %d blocks and what was counted, %d, within 20 %%", estimate, history, total)
		}
		if total > most {
			t.Errorf("%d calls for %d blocks, want %d at most: %v", total, last.Read, most, calmly.calls)
		}
	})
}
