package stories_test

import (
	"fmt"
	"math/big"
	"regexp"
	"sync/atomic"
	"testing"

	"crossgate/config"
	"crossgate/sandbox/sandboxtest"
	"crossgate/sandbox/venues"
)

// promised is what comes out of a swap, as venues spell it.
var promised = regexp.MustCompile(`"((?:a|assumedA)mountOut|(?:to|dst|out|dest|buy|toToken)Amount)": ?"(\d+)"`)

// TestVenuesThatPromiseTooMuchNeverWin has each venue promise a tenth more than it pays, against others that do not: by
// either way of execution it is refused for a reason.
func TestVenuesThatPromiseTooMuchNeverWin(t *testing.T) {
	t.Parallel()
	world := sandboxtest.Shared(t)
	base, _ := world.Chain(8453)
	for _, execution := range []config.Execution{config.ExecuteByRouter, config.ExecuteDirectly} {
		lied := 0
		for _, name := range venues.Serving(base.Facts.Native) {
			t.Run(string(execution)+"/"+name, func(t *testing.T) {
				var isLie atomic.Bool
				w := newTrader(t, world, base, serveSwaps(t, world, func(c *config.Config) {
					onlyVenues(c, "kyberswap", "openocean", "velora", name)
					c.Swap.Execution = execution
					between(t, c, name, func(body []byte) []byte {
						return promised.ReplaceAllFunc(body, func(member []byte) []byte {
							isLie.Store(true)
							parts := promised.FindSubmatch(member)
							more, _ := new(big.Int).SetString(string(parts[2]), 10)
							more.Div(more.Mul(more, big.NewInt(11)), big.NewInt(10))
							return fmt.Appendf(nil, `%q:"%s"`, parts[1], more)
						})
					})
				}))
				query := w.query(swapCases[2])
				query.Set("senderAddress", w.stranger.Hex()) // who has approved nothing
				var explained struct {
					Aggregators []struct{ Name, Verdict, Reason string }
				}
				get(t, w.gateway+"/v1.0/chain/transaction/explain?"+query.Encode(), &explained)
				if !isLie.Load() {
					t.Skip("it spells what comes out in another way, or is left out")
				}
				lied++
				for _, each := range explained.Aggregators {
					if each.Name == name && (each.Verdict == "won" || each.Reason == "") {
						t.Errorf("the liar is %s: %s", each.Verdict, each.Reason)
					}
				}
			})
		}
		if lied < 8 {
			t.Errorf("%d venues lied, want most of them", lied)
		}
	}
}
