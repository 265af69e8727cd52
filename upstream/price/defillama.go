// Package price reads USD prices of tokens from services and contracts.
package price

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"crossgate/chain"
	"crossgate/token"
	"crossgate/upstream"
)

// DefiLlama's coins API: https://api-docs.defillama.com (coins, /prices/current/{coins}).
const (
	// coinsPerCall keeps the path below 4 kB: a coin of an EVM chain takes some 50 characters.
	coinsPerCall = 80
	// maxPriceAge is how old a price may be. The service itself returns prices of up to six hours.
	maxPriceAge = 10 * time.Minute
	// pastWidth is how far a past price may be from the requested time, on either side.
	pastWidth = time.Hour
	// minConfidence is the least accepted, on the service's scale from 0 to 1: certain prices have 0.9 and more.
	minConfidence = 0.8
)

// llamaSlugs are the service's names for our chains, spelled like the keys of its adapters' chain list.
var llamaSlugs = map[chain.ID]string{
	1: "ethereum", 10: "optimism", 56: "bsc", 137: "polygon", 8453: "base", 42161: "arbitrum", 43114: "avax", 59144: "linea",
	4663: "robinhood", 5042: "arc",
	chain.Solana: "solana", 100000001: "neon_evm", 100000002: "xdai", 100000008: "zilliqa", 100000009: "flow",
	100000013: "sty", 100000014: "sonic", 100000017: "abstract", 100000019: "cronos", 100000020: "berachain",
	100000021: "bob", 100000022: "hyperliquid", 100000023: "mantle", 100000025: "sophon", chain.Tron: "tron",
	100000027: "sei", 100000028: "plasma", 100000029: "injective", 100000030: "monad", 100000031: "megaeth",
}

// coinGeckoIDs identify native coins whose wrapped form the registry does not know.
var coinGeckoIDs = map[chain.ID]string{
	5042: "usd-coin", 100000001: "neon", 100000008: "zilliqa", 100000013: "story-2", 100000025: "sophon",
}

type llama struct {
	pool     *upstream.Pool
	registry chain.Registry
	now      func() time.Time
}

// DefiLlama returns a source of prices from p, which serves the API of coins.llama.fi. A native coin is priced as its
// wrapped form. If only some calls succeed, it returns their prices along with the error.
func DefiLlama(p *upstream.Pool, registry chain.Registry) token.PriceSource {
	past := DefiLlamaPast(p, registry)
	return func(ctx context.Context, keys []token.Key) (map[token.Key]*big.Rat, error) {
		return past(ctx, time.Time{}, keys)
	}
}

// DefiLlamaPast is DefiLlama for prices at a time, within an hour of it; the zero time means now.
func DefiLlamaPast(p *upstream.Pool, registry chain.Registry) token.PastPriceSource {
	return llama{pool: p, registry: registry, now: time.Now}.prices
}

func (l llama) prices(ctx context.Context, at time.Time, keys []token.Key) (map[token.Key]*big.Rat, error) {
	byCoin := make(map[string][]token.Key, len(keys))
	for _, key := range keys {
		if coin := l.coin(key); coin != "" {
			byCoin[coin] = append(byCoin[coin], key)
		}
	}
	priced, err := gather(slices.Chunk(slices.Sorted(maps.Keys(byCoin)), coinsPerCall), func(coins []string) (map[string]*big.Rat, error) {
		return l.call(ctx, coins, at)
	})
	prices := make(map[token.Key]*big.Rat, len(keys))
	for coin, usd := range priced {
		for _, key := range byCoin[coin] {
			prices[key] = usd
		}
	}
	return prices, err
}

// gather asks for all groups concurrently. If some fail, it returns the prices of the others along with the error.
func gather[G any, K comparable](groups iter.Seq[G], ask func(G) (map[K]*big.Rat, error)) (map[K]*big.Rat, error) {
	var (
		asking   sync.WaitGroup
		mu       sync.Mutex
		prices   = map[K]*big.Rat{}
		failures []error
	)
	for group := range groups {
		asking.Go(func() {
			found, err := ask(group)
			mu.Lock()
			defer mu.Unlock()
			maps.Copy(prices, found)
			failures = append(failures, err)
		})
	}
	asking.Wait()
	return prices, errors.Join(failures...)
}

// coin returns the service's name for a token, empty if it has none.
func (l llama) coin(key token.Key) string {
	c, known := l.registry.Chain(key.Chain)
	slug, listed := llamaSlugs[key.Chain]
	if !known || !listed || !key.Address.Fits(c.Family) {
		return ""
	}
	address := key.Address
	if address.IsNative() {
		address = c.WrappedCoin
	}
	if address.IsAbsent() {
		if id, named := coinGeckoIDs[key.Chain]; named {
			return "coingecko:" + id
		}
		return ""
	}
	return slug + ":" + address.Format(c.Family)
}

func (l llama) call(ctx context.Context, coins []string, at time.Time) (map[string]*big.Rat, error) {
	var found map[string]*big.Rat
	request, width := upstream.Request{Path: "/prices/current/" + strings.Join(coins, ",")}, maxPriceAge
	if at.IsZero() {
		at = l.now()
	} else {
		width = pastWidth
		request.Path = fmt.Sprintf("/prices/historical/%d/%s", at.Unix(), strings.Join(coins, ","))
		request.Query = "searchWidth=1h"
	}
	_, err := l.pool.Do(ctx, request, func(r upstream.Response) (err error) {
		if r.Status >= 300 {
			return fmt.Errorf("HTTP status %d", r.Status)
		}
		found, err = readPrices(r.Body, at, width)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("prices of %d coins: %w", len(coins), err)
	}
	return found, nil
}

// readPrices decodes the prices that are confident and at most width from a time, as the shortest decimals that parse
// as the same numbers. Unknown coins are missing.
func readPrices(body []byte, at time.Time, width time.Duration) (map[string]*big.Rat, error) {
	var answer struct {
		Coins map[string]struct {
			Price      float64  `json:"price"`
			Timestamp  int64    `json:"timestamp"`  // UNIX seconds
			Confidence *float64 `json:"confidence"` // not always given
		} `json:"coins"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("read prices: %w", err)
	}
	if answer.Coins == nil {
		return nil, errors.New("read prices: no coins in the answer")
	}
	prices := make(map[string]*big.Rat, len(answer.Coins))
	for coin, listed := range answer.Coins {
		sure := listed.Confidence == nil || *listed.Confidence >= minConfidence
		isNear := at.Sub(time.Unix(listed.Timestamp, 0)).Abs() <= width
		if sure && isNear && listed.Price > 0 {
			prices[coin], _ = new(big.Rat).SetString(strconv.FormatFloat(listed.Price, 'f', -1, 64)) // of JSON, so finite
		}
	}
	return prices, nil
}
