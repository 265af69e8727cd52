package store

import (
	"errors"
	"testing"
	"time"

	"crossgate/internal/must"
)

// TestDeadLeaderIsReplacedInTime is about the clocks alone: how long it takes on a busy machine is logged by
// TestTwoGatewaysOnOneDatabase of sandbox/processes.
func TestDeadLeaderIsReplacedInTime(t *testing.T) {
	const limit, reserve = 15 * time.Second, 3 * time.Second // of the database and of the chain, to answer
	if longest := leaseLife + LeaseInterval; longest > limit-reserve {
		t.Errorf("a lease that nobody renews is claimed %v later at most, want %v", longest, limit-reserve)
	}
	if leaseRenewal > leaseLife/3 {
		t.Errorf("a lease of %v is renewed every %v, so that one late answer loses it", leaseLife, leaseRenewal)
	}
}

// TestLostLeaseFencesOff has a lease run out and another replica claim it.
func TestLostLeaseFencesOff(t *testing.T) {
	url := newDatabase(t)
	old, young := openReplica(t, url), openReplica(t, url)
	const job = "follow 1"
	held, granted, err := old.Claim(t.Context(), job)
	if err != nil || !granted {
		t.Fatalf("Claim = %v, %v", granted, err)
	}
	holding, release := old.Hold(t.Context(), held)
	if _, granted, err := young.Claim(t.Context(), job); err != nil || granted {
		t.Fatalf("Claim of a held lease = %v, %v", granted, err)
	}
	must.Get(old.writer.ExecContext(t.Context(), `UPDATE leases SET expires = 0`))(t)
	if _, granted, err := young.Claim(t.Context(), job); err != nil || !granted {
		t.Fatalf("Claim of an expired lease = %v, %v", granted, err)
	}
	if err := old.UpdateUnder(t.Context(), held, func(*Tx) error { return nil }); !errors.Is(err, ErrLeaseLost) {
		t.Errorf("UpdateUnder of a lost lease = %v, want %v", err, ErrLeaseLost)
	}
	<-holding.Done() // at the next renewal
	must.Do(t, release())
	if _, granted, err := old.Claim(t.Context(), job); err != nil || granted {
		t.Errorf("Claim after the release of a lost lease = %v, %v, want that it is not given back", granted, err)
	}
}

func TestReleasedLeaseIsFreeAtOnce(t *testing.T) {
	url := newDatabase(t)
	first, second := openReplica(t, url), openReplica(t, url)
	held, _, err := first.Claim(t.Context(), "job")
	must.Do(t, err)
	_, release := first.Hold(t.Context(), held)
	must.Do(t, release())
	if _, granted, err := second.Claim(t.Context(), "job"); err != nil || !granted {
		t.Errorf("Claim = %v, %v", granted, err)
	}
}
