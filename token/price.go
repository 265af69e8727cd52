package token

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync"
	"time"
)

// How many prices are remembered, and for how long.
const (
	rememberedPrices = 20_000           // per generation
	priceFresh       = 30 * time.Second // markets move little in it, and sources renew about as often
	priceUsable      = 10 * time.Minute // if no source answers
	priceRetry       = 5 * time.Second  // until sources that failed are asked again
	pricePatience    = 2 * time.Second
)

// price is a token's price; usd is nil if no source has one.
type price struct {
	usd   *big.Rat
	asOf  time.Time // when the sources returned it
	until time.Time // when they are asked again
}

func (p price) isUsable() bool { return time.Since(p.asOf) < priceUsable }

// askPrices asks all sources for keys concurrently. A token that no source priced while one of them failed keeps its
// last price as long as that is usable.
func (d *Directory) askPrices(ctx context.Context, keys []Key) (map[Key]price, error) {
	var group sync.WaitGroup
	answers := make([]map[Key]*big.Rat, len(d.DirectoryOptions.Prices))
	failures := make([]error, len(d.DirectoryOptions.Prices))
	for i, source := range d.DirectoryOptions.Prices {
		group.Go(func() {
			defer func() {
				if cause := recover(); cause != nil { // the process goes on
					failures[i] = fmt.Errorf("price source panicked: %v", cause)
				}
			}()
			answers[i], failures[i] = source(ctx, keys)
		})
	}
	group.Wait()
	given := make(map[Key][]*big.Rat, len(keys)) // in the sequence of the sources
	for _, prices := range answers {
		for key, usd := range prices {
			if usd != nil && usd.Sign() > 0 {
				given[key] = append(given[key], usd)
			}
		}
	}
	now, failed := time.Now(), errors.Join(failures...) != nil
	prices := make(map[Key]price, len(keys))
	for _, key := range keys {
		p := price{usd: agreed(given[key]), asOf: now, until: now.Add(priceFresh)}
		if p.usd == nil && failed {
			p = price{until: now.Add(priceRetry)}
			if last, known := d.prices.values.Get(key); known && last.isUsable() {
				p.usd, p.asOf = last.usd, last.asOf
			}
		}
		prices[key] = p
	}
	return prices, nil
}

// tolerated is how far a price may be from the median, in percent, before it counts for nothing.
const tolerated = 5

// agreed returns the median of the prices that are near the median of all, nil without prices. If none is near, the
// sources contradict each other, and the first one counts.
func agreed(prices []*big.Rat) *big.Rat {
	if len(prices) == 0 {
		return nil
	}
	middle := median(slices.Clone(prices))
	far := new(big.Rat).Mul(middle, big.NewRat(tolerated, 100))
	near := slices.DeleteFunc(slices.Clone(prices), func(usd *big.Rat) bool {
		distance := new(big.Rat).Sub(usd, middle)
		return distance.Abs(distance).Cmp(far) > 0
	})
	if len(near) == 0 {
		return prices[0]
	}
	return median(near)
}

// median returns the middle of prices, which it sorts; of an even number the mean of the two middle ones.
func median(prices []*big.Rat) *big.Rat {
	slices.SortFunc(prices, (*big.Rat).Cmp)
	middle := len(prices) / 2
	if len(prices)%2 == 1 {
		return prices[middle]
	}
	sum := new(big.Rat).Add(prices[middle-1], prices[middle])
	return sum.Quo(sum, big.NewRat(2, 1))
}
