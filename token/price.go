package token

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"sync"
	"time"
)

// How long prices live.
const (
	rememberedPrices = 20_000           // per generation
	priceFresh       = 30 * time.Second // markets move little in it, and sources renew about as often
	priceUsable      = 10 * time.Minute // when no source answers
	priceRetry       = 5 * time.Second  // before sources that failed are asked for a token again
	pricePatience    = 2 * time.Second
)

// price is what is known of a token's price: usd is nil when no source knows one.
type price struct {
	usd   *big.Rat
	asOf  time.Time // when the sources told it
	until time.Time // when they are asked again
}

func (d *Directory) isFresh(p price) bool { return d.now().Before(p.until) }

func (d *Directory) isUsable(p price) bool { return d.now().Sub(p.asOf) < priceUsable }

// askPrices asks every source for keys at once. A token that no source priced while one of them failed
// keeps its last price as long as that is usable.
func (d *Directory) askPrices(ctx context.Context, keys []Key) (map[Key]price, error) {
	told, failed := d.askSources(ctx, keys)
	now := d.now()
	prices := make(map[Key]price, len(keys))
	for _, key := range keys {
		p := price{usd: median(told[key]), asOf: now, until: now.Add(priceFresh)}
		if p.usd == nil && failed {
			p = price{until: now.Add(priceRetry)}
			if last, known := d.prices.last(key); known && d.isUsable(last) {
				p.usd, p.asOf = last.usd, last.asOf
			}
		}
		prices[key] = p
	}
	return prices, nil
}

// askSources returns what the sources say of each key and whether one of them failed.
func (d *Directory) askSources(ctx context.Context, keys []Key) (told map[Key][]*big.Rat, failed bool) {
	var (
		group sync.WaitGroup
		mu    sync.Mutex
	)
	told = make(map[Key][]*big.Rat, len(keys))
	for _, source := range d.sources {
		group.Go(func() {
			prices, err := ask(ctx, source, keys)
			mu.Lock()
			defer mu.Unlock()
			failed = failed || err != nil
			for key, usd := range prices {
				if usd != nil && usd.Sign() > 0 {
					told[key] = append(told[key], usd)
				}
			}
		})
	}
	group.Wait()
	return told, failed
}

// ask keeps a source's panic from taking the process with it.
func ask(ctx context.Context, source PriceSource, keys []Key) (prices map[Key]*big.Rat, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("price source panicked: %v", cause)
		}
	}()
	return source(ctx, keys)
}

// median returns the middle of prices, of an even number the mean of the two middle ones; nil for none.
func median(prices []*big.Rat) *big.Rat {
	if len(prices) == 0 {
		return nil
	}
	slices.SortFunc(prices, (*big.Rat).Cmp)
	middle := len(prices) / 2
	if len(prices)%2 == 1 {
		return prices[middle]
	}
	sum := new(big.Rat).Add(prices[middle-1], prices[middle])
	return sum.Quo(sum, big.NewRat(2, 1))
}
