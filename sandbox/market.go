package sandbox

import (
	"context"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"crossgate/chain"
	"crossgate/sandbox/contracts"
	"crossgate/sandbox/venues"
)

// Venue is an HTTP service for swaps or prices.
type Venue struct {
	Name string `json:"name"`
	URL  string `json:"url"`
	Key  string `json:"key,omitempty"` // its API key, if it requires one
}

// market returns the venues' view of the world.
func (w *World) market() venues.Market {
	m := venues.Market{
		Wrapped: map[uint64]string{}, Now: w.now, Lead: w.lead, Solana: w.solana.ledger,
		Reserves: (&depths{world: w, seen: map[common.Address]depth{}}).reserves,
	}
	for _, p := range w.places() {
		m.Tokens = append(m.Tokens, p.listed()...)
	}
	for _, c := range w.chains {
		m.Wrapped[c.Facts.Native] = c.Tokens[0].Address.Hex()
		for _, p := range c.Pools {
			m.Pools = append(m.Pools, venues.Pool{
				Chain: c.Facts.Native, Address: p.Address.Hex(),
				TokenA: p.Token0.Address.Hex(), TokenB: p.Token1.Address.Hex(), FeeBps: int(p.FeeBps),
			})
		}
	}
	return m
}

// lead returns how far an EVM chain's newest block is ahead of the clock.
func (w *World) lead(evmChainID uint64) time.Duration {
	for _, c := range w.chains {
		if c.Facts.Native == evmChainID {
			head := c.node.eth.BlockChain().CurrentBlock()
			return max(0, time.Unix(int64(head.Time), 0).Sub(w.now()))
		}
	}
	return 0
}

// listed returns the chain's tokens as venues list them: only those with decimals, TRON's by their EVM addresses.
func (p *Place) listed() (all []venues.Token) {
	id, family := p.Facts.Native, chain.EVM
	if p.Facts.Family == chain.SVM {
		id, family = uint64(p.Facts.ID), chain.SVM
	}
	for _, t := range p.withCoin() {
		if t.hasDecimals() {
			all = append(all, venues.Token{
				Chain: id, Address: t.text(family), Symbol: t.Symbol, Name: t.Name, Decimals: t.Decimals, USD: t.USD,
			})
		}
	}
	return all
}

// depths caches the reserves of pools per block. No two chains have a pool at the same address.
type depths struct {
	world *World

	mu   sync.Mutex
	seen map[common.Address]depth
}

// depth holds a pool's reserves at a block, identified by its header: the chain keeps returning the same pointer while
// that block is the head. The reserves are not modified.
type depth struct {
	head *types.Header
	a, b *big.Int
}

// reserves reads a pool's reserves at the head.
func (d *depths) reserves(ctx context.Context, evmChainID uint64, pool string) (a, b *big.Int, err error) {
	at := common.HexToAddress(pool)
	for _, c := range d.world.chains {
		if c.Facts.Native != evmChainID {
			continue
		}
		head := c.node.eth.BlockChain().CurrentBlock()
		d.mu.Lock()
		known := d.seen[at]
		d.mu.Unlock()
		if known.head == head {
			return known.a, known.b, nil
		}
		values, err := c.read(ctx, contracts.Pool, at, "getReserves")
		if err != nil {
			return nil, nil, err
		}
		known = depth{head, values[0].(*big.Int), values[1].(*big.Int)}
		d.mu.Lock()
		defer d.mu.Unlock()
		d.seen[at] = known
		return known.a, known.b, nil
	}
	return nil, nil, fmt.Errorf("chain %d is not in the sandbox", evmChainID)
}

// openVenues serves every venue, and the price source, under /venues/<name>.
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
