package index

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

// kills returns how often the test may kill: 20 times, or as CROSSGATE_KILLS says (make soak: 200).
func kills(t *testing.T) int {
	t.Helper()
	text := os.Getenv("CROSSGATE_KILLS")
	if text == "" {
		return 20
	}
	count, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("CROSSGATE_KILLS: %v", err)
	}
	return count
}

// TestKilledIndexLosesNothing kills a process that follows and backfills two chains at random moments. The
// store that it leaves, finished, answers as one that was never interrupted.
func TestKilledIndexLosesNothing(t *testing.T) {
	count := kills(t)
	p := plan{
		Store: t.TempDir() + "/orders.db", Start: time.Now(),
		First: uint64(100 * count), Last: uint64(150 * count), Every: time.Millisecond, Lookback: 64,
	}
	var midway int
	for range count {
		kill := startChild(t, p)
		<-time.After(time.Duration(rand.Int64N(int64(60 * time.Millisecond))))
		kill()
		store := openStoreAt(t, p.Store)
		position, known, err := store.checkpoint(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		if known && (position.first > 0 || position.block < p.Last) {
			midway++
		}
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
	}
	p.Start = time.Time{} // all blocks are there
	chains := p.chains()
	store := openStoreAt(t, p.Store)
	x := p.index(store, chains)
	followAll(t, x)
	if err := x.Backfill(t.Context(), func(Progress) {}); err != nil {
		t.Fatal(err)
	}
	straight := openStore(t)
	followAll(t, New(straight, sourcesOf(chains), quietly(Options{Chains: evmChains(1, 137)})))
	if got, want := answersOf(t, store, chains), answersOf(t, straight, chains); got != want {
		t.Errorf("after %d kills the store answers otherwise than an uninterrupted one", count)
	}
	t.Logf("killed %d times, %d of them with work left", count, midway)
	if midway < count/4 {
		t.Errorf("only %d of %d kills came while there was work to do", midway, count)
	}
}
