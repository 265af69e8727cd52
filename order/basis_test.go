package order

import (
	"testing"
	"time"
)

func TestLagIsThatOfTheNewerOfBlockAndLook(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	for name, test := range map[string]struct {
		level   time.Time
		indexed uint64
		want    time.Duration
	}{
		"level since the block":      {now.Add(-time.Second), 999_990, time.Second},
		"catching up":                {now.Add(-time.Hour), 999_940, time.Minute},
		"never level":                {time.Time{}, 999_940, time.Minute},
		"a clock behind the chain's": {now.Add(-5 * time.Minute), 1_000_600, 5 * time.Minute},
		"the same, and never level":  {time.Time{}, 1_000_600, 0},
	} {
		if got := (Lag{IndexedTime: test.indexed, Level: test.level}).By(now); got != test.want {
			t.Errorf("%s: lag %v, want %v", name, got, test.want)
		}
	}
}

// TestAnotherReplicasBasis takes over a basis whose chain had a new head here before, and after, it was read there. The
// stored basis, which other requests read, stays as it is.
func TestAnotherReplicasBasis(t *testing.T) {
	read := time.Unix(1_000_000, 0)
	there := Basis{At: read, Chains: []ChainBasis{{Chain: 1, Unread: true}, {Chain: 137, Unread: true}}}
	before, after := &Epoch{Began: read.Add(-1)}, &Epoch{Began: read}
	for _, row := range []struct {
		name  string
		here  *Epoch
		holds bool
	}{
		{"no new head since", before, true},
		{"a new head since", after, false},
		{"a chain that is not followed here", nil, true},
	} {
		here := Basis{Chains: []ChainBasis{{Chain: 1, Epoch: before}, {Chain: 137, Epoch: row.here}}}
		if got := there.On(here).Holds(); got != row.holds {
			t.Errorf("%s: the answer holds: %t, want %t", row.name, got, row.holds)
		}
		if there.Chains[0].Epoch != nil || there.Chains[1].Epoch != nil {
			t.Fatalf("%s: the stored basis has changed", row.name)
		}
	}
	before.End()
	if there.On(Basis{Chains: []ChainBasis{{Chain: 1, Epoch: before}}}).Holds() {
		t.Error("the answer holds although its epoch has ended")
	}
}
