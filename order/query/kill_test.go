package query

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"crossgate/internal/must"
	"crossgate/order/audit"
	"crossgate/order/follow"
	"crossgate/order/ledger"
)

// kills returns how often the test may kill: twice, or as CROSSGATE_KILLS says (make soak: 100).
func kills(t *testing.T) int {
	t.Helper()
	text := os.Getenv("CROSSGATE_KILLS")
	if text == "" {
		return 2
	}
	count, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("CROSSGATE_KILLS: %v", err)
	}
	return count
}

// TestKilledIndexLosesNothing kills a process that follows and backfills two chains, each time after another number of
// ranges and while it works on the next ones: the chains do not tell it enough to come to an end. The store that it
// leaves, finished, answers as one that was never interrupted.
func TestKilledIndexLosesNothing(t *testing.T) {
	t.Parallel()
	const each = 200 // blocks of history that each process is told more of than the one before: 10 ranges of 2 chains
	count := kills(t)
	p := plan{
		Store: t.TempDir() + "/orders.db", Start: time.Now(), Lookback: 64, Every: time.Millisecond,
		First: uint64(each * (count + 1)), Last: uint64(each*(count+1) + 20*count),
	}
	for i := range count {
		p.Silent = p.First - p.Lookback - uint64(each*(i+1))
		c := startChild(t, p)
		for range rand.IntN(20) {
			c.await(t, hasStored)
		}
		c.kill()
	}
	store := openStoreAt(t, p.Store)
	position, known, err := ledger.Ledger{DB: store}.Checkpoint(t.Context(), 1)
	if err != nil || !known || position.First < p.Silent {
		t.Fatalf("after %d kills %+v was read, %v, %v; want history down to block %d at most", count, position, known, err, p.Silent)
	}
	t.Logf("killed %d times; of %d blocks %d to %d were read by then", count, p.Last, position.First, position.Block)
	p.Start = time.Time{} // all blocks are there
	chains := p.chains()
	x := p.index(store, chains)
	followAll(t, x)
	must.Do(t, audit.Of(x.Chains).Backfill(t.Context(), func(audit.Progress) {}))
	straight := openStore(t)
	followAll(t, newIndex(straight, sourcesOf(chains), quietly(follow.Options{Chains: evmChains(1, 137)})))
	if got, want := answersOf(t, store, chains), answersOf(t, straight, chains); got != want {
		t.Errorf("after %d kills the store answers otherwise than an uninterrupted one", count)
	}
}
