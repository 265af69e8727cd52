package evm

import (
	"testing"

	"crossgate/chain"
)

func TestEstimateGoesBackByTheTypicalBlockTime(t *testing.T) {
	c := &Chain{chain: chain.Chain{BlockTime: 2_000_000_000}}
	latest := header{Number: 1_000_000, Timestamp: 1_700_000_000}
	for _, test := range []struct{ since, want uint64 }{
		{1_700_000_000, 998_750},           // now: slightly earlier
		{1_700_000_000 - 200_000, 898_750}, // slightly more than 100,000 blocks earlier
		{0, 1},
	} {
		if got := c.estimate(test.since, latest); got != test.want {
			t.Errorf("estimate(%d) = %d, want %d", test.since, got, test.want)
		}
	}
}

func TestSpreadCoversTheGap(t *testing.T) {
	for _, test := range []struct{ before, last, count, first, final uint64 }{
		{10, 11, 0, 0, 0},
		{10, 12, 1, 11, 11},
		{10, 20, 9, 11, 19},
		{0, 1 << 40, 16, 1 << 40 / 17, 1 << 40 / 17 * 16},
	} {
		got := spread(test.before, test.last)
		if uint64(len(got)) != test.count {
			t.Errorf("spread(%d, %d) = %v, want %d blocks", test.before, test.last, got, test.count)
			continue
		}
		for i, block := range got {
			if block <= test.before || block >= test.last || i > 0 && block <= got[i-1] {
				t.Errorf("spread(%d, %d) = %v, not rising between them", test.before, test.last, got)
			}
		}
		if test.count > 0 && (got[0] != test.first || got[len(got)-1]-test.final > 16) {
			t.Errorf("spread(%d, %d) = %v, want about %d to %d", test.before, test.last, got, test.first, test.final)
		}
	}
}
