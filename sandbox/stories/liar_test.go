package stories_test

import (
	"math/big"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"sync/atomic"
	"testing"

	"crossgate/config"
	"crossgate/sandbox/sandboxtest"
	"crossgate/sandbox/venues"
)

// promised is what comes out of a swap, as venues spell it.
var promised = regexp.MustCompile(`"((?:a|assumedA)mountOut|(?:to|dst|out|dest|buy|toToken)Amount)":( ?)"(\d+)"`)

// TestVenuesThatPromiseTooMuchNeverWin has each venue promise a tenth more than it pays, against others that do not: by
// either way of execution it is refused for a reason.
func TestVenuesThatPromiseTooMuchNeverWin(t *testing.T) {
	t.Parallel()
	world := sandboxtest.Shared(t)
	base, _ := world.Chain(8453)
	all := swapsAlone(t, world)
	names := venues.Serving(base.Facts.Native)
	all.Venues = slices.DeleteFunc(all.Venues, func(v config.Venue) bool {
		return len(v.Endpoints) == 0 || !slices.Contains(names, v.Name)
	})
	for _, execution := range []config.Execution{config.ExecuteByRouter, config.ExecuteDirectly} {
		lied := 0
		for i, v := range all.Venues {
			t.Run(string(execution)+"/"+v.Name, func(t *testing.T) {
				real, err := url.Parse(v.Endpoints[0].URL.Reveal())
				if err != nil {
					t.Fatal(err)
				}
				var isLie atomic.Bool
				server := httptest.NewServer(between(real, func(body []byte) []byte {
					return promised.ReplaceAllFunc(body, func(member []byte) []byte {
						isLie.Store(true)
						parts := promised.FindSubmatch(member)
						more, _ := new(big.Int).SetString(string(parts[3]), 10)
						more.Div(more.Mul(more, big.NewInt(11)), big.NewInt(10))
						return []byte(`"` + string(parts[1]) + `":"` + more.String() + `"`)
					})
				}))
				t.Cleanup(server.Close)
				c := all
				c.Swap.Execution, c.Index.Path = execution, t.TempDir()+"/orders.db"
				two := slices.DeleteFunc(slices.Clone(all.Venues), func(other config.Venue) bool {
					return other.Name != "kyberswap" && other.Name != "openocean" && other.Name != "velora" || other.Name == v.Name
				})
				c.Venues = append(two, v)
				c.Venues[len(two)].Endpoints = slices.Clone(all.Venues[i].Endpoints)
				c.Venues[len(two)].Endpoints[0].URL = config.NewSecret(server.URL)
				_, address := serveConfig(t, c)
				w := newTrader(t, world, base, address)
				query := w.query(swapCases[2])
				query.Set("senderAddress", w.stranger.Hex()) // who has approved nothing
				var explained struct {
					Aggregators []struct{ Name, Verdict, Reason string }
				}
				get(t, address+"/v1.0/chain/transaction/explain?"+query.Encode(), &explained)
				if !isLie.Load() {
					t.Skip("it spells what comes out in another way, or is left out")
				}
				lied++
				for _, each := range explained.Aggregators {
					if each.Name == v.Name && (each.Verdict == "won" || each.Reason == "") {
						t.Errorf("the liar is %s: %s", each.Verdict, each.Reason)
					}
				}
			})
		}
		if lied < 8 {
			t.Errorf("%d venues lied, want most of %d", lied, len(all.Venues))
		}
	}
}
