package quote

import (
	"context"
	"sync/atomic"
	"time"
)

// GasPrices keeps a chain's gas prices between requests. The zero value has none. Safe for concurrent use.
type GasPrices struct {
	known    atomic.Pointer[knownPrices]
	renewing atomic.Bool
}

type knownPrices struct {
	prices     PricesOfGas
	due, until time.Time // when they are renewed; when they end
}

// PricesOfGas are a chain's gas prices by priority.
type PricesOfGas [Aggressive + 1]GasPrice

// ReadGasPrices reads a chain's gas prices. They are current for some time, and usable for as long again.
type ReadGasPrices func(context.Context) (prices PricesOfGas, current time.Duration, err error)

// At returns the gas price at a priority. It reads prices only if none are usable.
func (g *GasPrices) At(ctx context.Context, p Priority, read ReadGasPrices) (GasPrice, error) {
	if known := g.known.Load(); known != nil && time.Now().Before(known.until) {
		return known.prices[p], nil
	}
	prices, err := g.read(ctx, read)
	return prices[p], err
}

// Renew reads prices that are no longer current, for one caller at a time. An error leaves the known ones.
func (g *GasPrices) Renew(ctx context.Context, read ReadGasPrices) {
	known := g.known.Load()
	if known == nil || time.Now().Before(known.due) || !g.renewing.CompareAndSwap(false, true) {
		return
	}
	defer g.renewing.Store(false)
	_, _ = g.read(ctx, read) // At reports the error of the next read
}

func (g *GasPrices) read(ctx context.Context, read ReadGasPrices) (PricesOfGas, error) {
	prices, current, err := read(ctx)
	if err != nil {
		return PricesOfGas{}, err
	}
	due := time.Now().Add(current)
	g.known.Store(&knownPrices{prices, due, due.Add(current)})
	return prices, nil
}
