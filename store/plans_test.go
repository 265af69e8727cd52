package store

import (
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// claimed claims of one plan and returns how far it is spent then.
func claimed(t *testing.T, store *DB, service, endpoint string, claim time.Duration) time.Duration {
	t.Helper()
	refilled, err := store.ClaimPlans(t.Context(), []PlanClaim{{service, endpoint, claim}})
	if err != nil {
		t.Fatal(err)
	}
	return time.Until(refilled[0]).Round(time.Minute) // a test takes less than half of one
}

func TestClaimsOutliveTheProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "orders.db")
	first, err := OpenSQLite(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []time.Duration{time.Hour, 2 * time.Hour} {
		if got := claimed(t, first, "1", "node", time.Hour); got != want {
			t.Errorf("spent for %v, want %v", got, want)
		}
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again := openStoreAt(t, path)
	for name, want := range map[[2]string]time.Duration{{"1", "node"}: 2 * time.Hour, {"10", "node"}: 0, {"1", "other"}: 0} {
		if got := claimed(t, again, name[0], name[1], 0); got != want {
			t.Errorf("%v is spent for %v after a restart, want %v", name, got, want)
		}
	}
}

// TestClaimsOfTheRefilledCountFromNow has a plan rest for longer than it was spent.
func TestClaimsOfTheRefilledCountFromNow(t *testing.T) {
	for name, store := range map[string]*DB{"SQLite": openStore(t), "PostgreSQL": openPostgres(t)} {
		claimed(t, store, "1", "node", time.Hour)
		if _, err := store.writer.ExecContext(t.Context(), `UPDATE plans SET refilled = refilled - $1`, (3 * time.Hour).Microseconds()); err != nil {
			t.Fatal(err)
		}
		if got := claimed(t, store, "1", "node", time.Minute); got != time.Minute {
			t.Errorf("%s: spent for %v, want a minute", name, got)
		}
	}
}

// TestClaimsOfReplicasAddUp has two replicas claim of one plan at the same time.
func TestClaimsOfReplicasAddUp(t *testing.T) {
	database := newDatabase(t)
	var claiming sync.WaitGroup
	const each = 20
	for range 2 {
		replica := openReplica(t, database)
		claiming.Go(func() {
			for range each {
				if _, err := replica.ClaimPlans(t.Context(), []PlanClaim{{"1", "node", time.Hour}, {"1", "other", time.Minute}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	claiming.Wait()
	store := openReplica(t, database)
	if node, other := claimed(t, store, "1", "node", 0), claimed(t, store, "1", "other", 0); node != 2*each*time.Hour || other != 2*each*time.Minute {
		t.Errorf("spent for %v and %v, want %v and %v", node, other, 2*each*time.Hour, 2*each*time.Minute)
	}
}

func TestClaimsThatFailAreNone(t *testing.T) {
	store := openStoreAt(t, filepath.Join(t.TempDir(), "orders.db"))
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if refilled, err := store.ClaimPlans(t.Context(), []PlanClaim{{"1", "node", time.Hour}}); err == nil || refilled != nil {
		t.Errorf("ClaimPlans of a closed store = %v, %v, want an error", refilled, err)
	}
}
