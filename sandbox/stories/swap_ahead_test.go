package stories_test

import (
	"testing"

	"crossgate/sandbox"
	"crossgate/sandbox/sandboxtest"
)

// TestSwapsWorkOnAChainAheadOfTheClock makes blocks, which take a second each by the chain's time, for longer than any
// venue's deadline.
func TestSwapsWorkOnAChainAheadOfTheClock(t *testing.T) {
	t.Parallel()
	front := patientlyInFrontOf(t, sandboxtest.Start(t, sandbox.Options{}))
	base, _ := front.world.Chain(8453)
	if err := front.world.Mine(t.Context(), base.Facts.ID, 3000); err != nil {
		t.Fatal(err)
	}
	newTrader(t, front.world, base, front.url).makeSwap(t, swapCases[0])
}
