package store

import (
	"path/filepath"
	"testing"
	"time"

	"crossgate/internal/must"
)

// claimed claims of one plan and returns how far it is spent then.
func claimed(t *testing.T, store *DB, service, endpoint string, claim time.Duration) time.Duration {
	t.Helper()
	refilled := must.Get(store.ClaimPlans(t.Context(), []PlanClaim{{service, endpoint, claim}}))(t)
	return time.Until(refilled[0]).Round(time.Minute) // a test takes less than half of one
}

// TestClaimsOfTheRefilledCountFromNow has a plan rest for longer than it was spent.
func TestClaimsOfTheRefilledCountFromNow(t *testing.T) {
	for name, store := range map[string]*DB{"SQLite": openStore(t), "PostgreSQL": openPostgres(t)} {
		claimed(t, store, "1", "node", time.Hour)
		must.Get(store.writer.ExecContext(t.Context(), `UPDATE plans SET refilled = refilled - $1`, (3 * time.Hour).Microseconds()))(t)
		if got := claimed(t, store, "1", "node", time.Minute); got != time.Minute {
			t.Errorf("%s: spent for %v, want a minute", name, got)
		}
	}
}

func TestClaimsThatFailAreNone(t *testing.T) {
	store := openStoreAt(t, filepath.Join(t.TempDir(), "orders.db"))
	must.Do(t, store.Close())
	if refilled, err := store.ClaimPlans(t.Context(), []PlanClaim{{"1", "node", time.Hour}}); err == nil || refilled != nil {
		t.Errorf("ClaimPlans of a closed store = %v, %v, want an error", refilled, err)
	}
}
