package quote_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/quote"
)

// TestGasPricesAreReadBeforeTheyEnd proves that whoever asks in time waits for no read, that others may renew the price
// meanwhile, one at a time, and that a failure to do so is nobody's.
func TestGasPricesAreReadBeforeTheyEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const current, reading = 10 * time.Second, time.Second
		reads, failure := uint64(0), error(nil)
		read := func(context.Context) (prices quote.PricesOfGas, _ time.Duration, err error) {
			reads++
			prices[quote.Normal].Expected = chain.NewAmount(reads)
			<-time.After(reading)
			return prices, current, failure
		}
		var g quote.GasPrices
		want := func(when string, price, readings uint64) {
			t.Helper()
			if got := must.Get(g.At(t.Context(), quote.Normal, read))(t); got.Expected != chain.NewAmount(price) || reads != readings {
				t.Errorf("%s: price %s after %d reads, want %d after %d", when, got.Expected, reads, price, readings)
			}
		}
		g.Renew(t.Context(), read) // nothing yet
		want("at first", 1, 1)
		g.Renew(t.Context(), read)
		want("while it is current", 1, 1)
		time.Sleep(current)
		want("before it is renewed", 1, 1)
		var renewing sync.WaitGroup
		for range 3 {
			renewing.Go(func() { g.Renew(t.Context(), read) })
		}
		synctest.Wait()
		want("while it is renewed", 1, 2)
		renewing.Wait()
		want("renewed", 2, 2)
		time.Sleep(current)
		failure = errors.New("no answer")
		g.Renew(t.Context(), read)
		want("after a failure", 2, 3)
		time.Sleep(current)
		if _, err := g.At(t.Context(), quote.Normal, read); !errors.Is(err, failure) {
			t.Errorf("once it has ended: %v, want the failure", err)
		}
		failure = nil
		want("once it is readable", 5, 5)
	})
}
