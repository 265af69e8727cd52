// The race detector of Go 1.26 crashes now and then where many processors run the timers of one bubble.

//go:build !race

package gateway

import (
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/order"
	"crossgate/order/follow"
	"crossgate/store"
)

// TestADayOfFollowing follows all chains of the default configuration and counts the calls to their nodes: for a part
// of a day, or a whole one with CROSSGATE_DAY. Clients constantly ask about orders of two chains, or of all.
func TestADayOfFollowing(t *testing.T) {
	for name, test := range map[string]struct {
		asked     []chain.ID
		simulated time.Duration
		most      float64 // calls a day
		late      time.Duration
	}{
		"two chains": {[]chain.ID{1, 8453}, 36 * time.Minute, 1_000_000, 2 * time.Second},
		"all chains": {nil, 12 * time.Minute, 3_000_000, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			if os.Getenv("CROSSGATE_DAY") != "" {
				test.simulated = 24 * time.Hour
			}
			asked := test.asked
			const settle = 6 * time.Minute // after the start, when everything counts as asked about
			onVirtualClock(t, func(t *testing.T, db *store.DB, c config.Config, o follow.Options) {
				chains, sources := map[chain.ID]*calm{}, map[chain.ID]order.Source{}
				for _, own := range c.Chains {
					chains[own.ID] = newCalm(c, own.ID)
					sources[own.ID] = chains[own.ID].source(t, c, own)
				}
				if asked == nil {
					asked = slices.Collect(maps.Keys(chains))
				}
				o.Lookback = 100
				x := index(follow.New(db, sources, o), c.Index)
				stop := settled(t, x, settle, chains)
				seen := askAround(x, chains, asked, test.simulated)
				stop()
				report(t, c, chains, asked, float64(24*time.Hour)/float64(test.simulated), test.most)
				for id, ages := range seen {
					// A proof and what endpoints are proven by can meet in one look, of thousands, at five calls a second.
					slices.Sort(ages)
					limit := chains[id].chain.BlockTime + test.late
					usual, worst := ages[len(ages)*995/1000], ages[len(ages)-1]
					t.Logf("chain %d, which is asked about: newest indexed block at most %v old 995 times in 1000, %v at worst", id, usual, worst)
					if usual > limit || worst > limit+test.late {
						t.Errorf("chain %d was indexed up to a block that was %v old 995 times in 1000, %v at worst: want %v", id, usual, worst, limit)
					}
				}
			})
		})
	}
}

// report compares what was counted, made a day's, with what is allowed and with what is projected.
func report(t *testing.T, c config.Config, chains map[chain.ID]*calm, about []chain.ID, toDay float64, most float64) {
	t.Helper()
	paces := follow.Pace{Asked: c.Index.Asked}.WithDefaults()
	paces.Together = func() int { return len(about) }
	var counted, projected float64
	for _, own := range c.Chains {
		each, asked := chains[own.ID], follow.Unasked
		if slices.Contains(about, own.ID) {
			asked = follow.AskedAboutOrders
		}
		day := float64(each.total()) * toDay
		p := follow.Project(each.chain, paces.Of(each.chain, asked), len(own.Endpoints))
		counted, projected = counted+day, projected+p.Total()
		t.Logf("%-16s %8.0f calls a day, %8.0f projected: %v, %v", each.chain.Name, day, p.Total(), each.calls, roundedCalls(p.Calls, toDay))
	}
	t.Logf("all chains: %.0f calls a day, %.0f projected", counted, projected)
	if counted > most {
		t.Errorf("%.0f calls a day, want %.0f at most", counted, most)
	}
	if projected < 0.8*counted || projected > 1.2*counted {
		t.Errorf("%.0f calls a day are projected, %.0f were counted: want 20 %% between them at most", projected, counted)
	}
}

func roundedCalls(calls map[string]float64, toDay float64) map[string]int {
	rounded := map[string]int{}
	for method := range maps.Keys(calls) {
		rounded[method] = int(calls[method] / toDay)
	}
	return rounded
}
