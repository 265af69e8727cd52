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
