package venue_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/internal/golden"
	"crossgate/internal/must"
	"crossgate/quote"
	"crossgate/token"
	"crossgate/upstream/venue"
)

// TestExchangesAskForEveryPath has a golden file of the calls by which exchanges quote a swap of the coin on Ethereum: who
// they are, and the price of each path, direct and over hubs.
func TestExchangesAskForEveryPath(t *testing.T) {
	ethereum, _ := chain.Documented().Chain(chain.Ethereum)
	usdt, _ := token.WellKnown(ethereum.ID, "USDT")
	var calls strings.Builder
	for _, name := range []string{"uniswap-v2", "uniswap-v3"} {
		away := errors.New("endpoint away")
		v := must.Get(venue.New(name, venue.Options{Registry: chain.Documented(), Contracts: func(_ context.Context, _ chain.ID, to []chain.Address, data [][]byte) ([][]byte, error) {
			for i := range to {
				fmt.Fprintf(&calls, "%s %s %x\n", name, to[i], data[i])
			}
			return nil, away
		}}))(t)
		if _, err := v.Quote(t.Context(), quote.Example(ethereum, usdt)); !errors.Is(err, away) {
			t.Errorf("%s: Quote without contracts: %v, want %v", name, err, away)
		}
	}
	golden.Check(t, "testdata/paths.txt", calls.String())
}
