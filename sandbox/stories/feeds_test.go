package stories_test

import (
	"testing"

	"crossgate/config"
	"crossgate/sandbox/sandboxtest"
)

// TestPricesFromTheChainAlone reads prices from the contracts of a chain, with no service to ask, on a chain that has
// them and on one that has none: a missing price fails no swap.
func TestPricesFromTheChainAlone(t *testing.T) {
	t.Parallel()
	world := sandboxtest.Shared(t)
	address := serveSwaps(t, world, func(c *config.Config) { c.Prices = config.Prices{Feeds: true} })
	for _, chain := range world.Chains() {
		if chain.Facts.ID != 1 && chain.Facts.ID != 8453 {
			continue
		}
		trader := newTrader(t, world, chain, address)
		var swap struct {
			TokenIn, TokenOut struct{ ApproximateUSDValue float64 }
		}
		get(t, address+"/v1.0/chain/transaction?"+trader.query(swapCases[0]).Encode(), &swap)
		in, out := swap.TokenIn.ApproximateUSDValue, swap.TokenOut.ApproximateUSDValue
		priced := in > 0 && out > in*0.97 && out < in*1.01
		if has := chain.Facts.ID == 1; priced != has {
			t.Errorf("chain %d: USD = %v in, %v out; prices on the chain: %v", chain.Facts.ID, in, out, has)
		}
	}
}
