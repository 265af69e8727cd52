package sandbox

import (
	"context"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"crossgate/sandbox/contracts"
	"crossgate/sandbox/venues"
)

// Venue is an HTTP service about swaps.
type Venue struct {
	Name string `json:"name"`
	URL  string `json:"url"`
	Key  string `json:"key,omitempty"` // its API key, where it wants one
}

// market is what the venues see of the world.
func (w *World) market() venues.Market {
	m := venues.Market{
		Wrapped: map[uint64]string{}, Reserves: w.reserves, Now: w.now,
	}
	for _, c := range w.chains {
		if !c.hasMarket() {
			continue
		}
		m.Wrapped[c.Facts.Native] = c.Tokens[0].Address.Hex()
		for _, t := range append([]Token{c.coin()}, c.Tokens...) {
			if !t.hasDecimals() {
				continue // no venue lists a token without them
			}
			m.Tokens = append(m.Tokens, venues.Token{
				Chain: c.Facts.Native, Address: t.Address.Hex(), Symbol: t.Symbol, Name: t.Name, Decimals: t.Decimals, USD: t.USD,
			})
		}
		for _, p := range c.Pools {
			m.Pools = append(m.Pools, venues.Pool{
				Chain: c.Facts.Native, Address: p.Address.Hex(),
				TokenA: p.Token0.Address.Hex(), TokenB: p.Token1.Address.Hex(), FeeBps: int(p.FeeBps),
			})
		}
	}
	return m
}

// reserves reads a pool at the head.
func (w *World) reserves(ctx context.Context, evmChainID uint64, pool string) (a, b *big.Int, err error) {
	for _, c := range w.chains {
		if c.Facts.Native != evmChainID {
			continue
		}
		values, err := c.read(ctx, contracts.Pool, common.HexToAddress(pool), "getReserves")
		if err != nil {
			return nil, nil, err
		}
		return values[0].(*big.Int), values[1].(*big.Int), nil
	}
	return nil, nil, fmt.Errorf("chain %d is not in the sandbox", evmChainID)
}

// openVenues serves every venue, and the prices, under /venues/<name>.
func (w *World) openVenues(mux *http.ServeMux) {
	for name, handler := range venues.Handlers(w.market()) {
		path := "/venues/" + name
		mux.Handle(path+"/", w.faults.guard(name, allowBrowsers(http.StripPrefix(path, handler))))
		if name == venues.Prices {
			w.prices = Venue{Name: name, URL: w.url + path}
			continue
		}
		w.venues = append(w.venues, Venue{Name: name, URL: w.url + path, Key: venues.Key(name)})
	}
	slices.SortFunc(w.venues, func(a, b Venue) int { return strings.Compare(a.Name, b.Name) })
}
