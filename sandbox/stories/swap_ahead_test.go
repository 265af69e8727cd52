package stories_test

import (
	"testing"

	"crossgate/internal/must"
	"crossgate/sandbox"
	"crossgate/sandbox/sandboxtest"
)

// TestSwapsWorkOnAChainAheadOfTheClock makes blocks, which take a second each by the chain's time, for longer than any
// deadline (20 minutes): that of exchanges, whose calldata the gateway writes, and that which a service is asked for.
func TestSwapsWorkOnAChainAheadOfTheClock(t *testing.T) {
	t.Parallel()
	world := sandboxtest.Start(t, sandbox.Options{})
	base, _ := world.Chain(8453)
	must.Do(t, world.Mine(t.Context(), base.Facts.ID, 1500))
	for _, name := range []string{"uniswap-v2", "velora"} {
		c := configOf(t, world)
		onlyVenues(&c, name)
		g, url := serveConfig(t, c)
		must.Do(t, g.AwaitIndexed(t.Context()))
		newTrader(t, world, base, url).makeSwap(t, swapCases[0])
	}
}
