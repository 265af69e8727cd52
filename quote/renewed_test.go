package quote_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"crossgate/internal/must"
	"crossgate/quote"
)

// TestValuesAreRenewedBeforeTheyEnd proves that requests in time wait for no read, that others may renew the value
// meanwhile, one at a time, and that a failure to do so is nobody's.
func TestValuesAreRenewedBeforeTheyEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const current, reading = 10 * time.Second, time.Second
		reads, failure := uint64(0), error(nil)
		read := func(context.Context) (uint64, time.Duration, error) {
			reads++
			value := reads
			<-time.After(reading)
			return value, current, failure
		}
		var r quote.Renewed[uint64]
		want := func(when string, value, readings uint64) {
			t.Helper()
			if got := must.Get(r.Get(t.Context(), read))(t); got != value || reads != readings {
				t.Errorf("%s: %d after %d reads, want %d after %d", when, got, reads, value, readings)
			}
		}
		r.Renew(t.Context(), read) // nothing yet
		want("at first", 1, 1)
		r.Renew(t.Context(), read)
		want("while it is current", 1, 1)
		time.Sleep(current)
		want("before it is renewed", 1, 1)
		var renewing sync.WaitGroup
		for range 3 {
			renewing.Go(func() { r.Renew(t.Context(), read) })
		}
		synctest.Wait()
		want("while it is renewed", 1, 2)
		renewing.Wait()
		want("renewed", 2, 2)
		time.Sleep(current)
		failure = errors.New("no answer")
		r.Renew(t.Context(), read)
		want("after a failure", 2, 3)
		time.Sleep(current)
		if _, err := r.Get(t.Context(), read); !errors.Is(err, failure) {
			t.Errorf("once it has ended: %v, want the failure", err)
		}
		failure = nil
		want("once it is readable", 5, 5)
	})
}
