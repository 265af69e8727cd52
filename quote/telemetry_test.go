package quote_test

import (
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"crossgate/chain"
	"crossgate/internal/measured"
	"crossgate/internal/must"
	"crossgate/quote"
)

// TestForHowLongVenuesFailIsMeasured lets a venue fail twice, an hour apart, and then lets time pass without requests;
// of another one the transactions are refused.
func TestForHowLongVenuesFailIsMeasured(t *testing.T) {
	measured := measured.Start(t)
	now := time.Unix(1_800_000_000, 0)
	e := quote.New(quote.Options{
		Registry: chain.Documented(), Tokens: directory(false), Chains: ethereum(quote.Chain{}),
		Venues: []quote.Venue{
			&fakeVenue{name: "gone", quoteError: errors.New("HTTP 410")}, &fakeVenue{name: "well", perInput: 10_000},
			&fakeVenue{name: "lies", perInput: 20_000, buildError: quote.ErrRefused},
		},
		Logger: slog.New(slog.DiscardHandler), Now: func() time.Time { return now },
	})
	stop := e.Observe()
	for range 2 {
		estimate(t, e, usdcToDai())
		now = now.Add(time.Hour)
	}
	const gone = "crossgate.venue.failing{crossgate.venue=gone,}"
	seconds := measured()
	for name, want := range map[string]float64{
		gone: 3600, "crossgate.venue.failing{crossgate.venue=well,}": 0,
		"crossgate.venue.duration{crossgate.outcome=failed,crossgate.venue=gone,}":  1, // shared by both
		"crossgate.venue.duration{crossgate.outcome=ok,crossgate.venue=well,}":      1, // shared by both
		"crossgate.quote.refusals{crossgate.reason=refused,crossgate.venue=lies,}":  2,
		"crossgate.venue.verdicts{crossgate.venue=well,crossgate.verdict=won,}":     2,
		"crossgate.venue.verdicts{crossgate.venue=lies,crossgate.verdict=refused,}": 2,
	} {
		if got, known := seconds[name]; got != want || !known {
			t.Errorf("%s = %v, measured: %t, want %v", name, got, known, want)
		}
	}
	stop()
	if _, left := measured()[gone]; left {
		t.Error("after stop it is measured, want nothing")
	}
}

func TestWatchersHearEachVenueAsItAnswers(t *testing.T) {
	cheap, dear := &fakeVenue{name: "cheap", perInput: 7}, &fakeVenue{name: "dear", perInput: 9}
	e := estimator(cheap, dear)
	var mu sync.Mutex
	heard := map[string]string{}
	ctx := quote.WithWatcher(t.Context(), func(h quote.Heard) {
		mu.Lock()
		defer mu.Unlock()
		heard[h.Venue] = h.AmountOut.String()
	})
	must.Get(e.Estimate(ctx, usdcToDai()))(t)
	mu.Lock()
	defer mu.Unlock()
	expect(t, "heard", heard, map[string]string{"cheap": "700000000", "dear": "900000000"})
}
