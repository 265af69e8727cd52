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

// TestForHowLongVenuesFailIsMeasured lets a venue fail twice, an hour apart, and then lets time pass without requests.
func TestForHowLongVenuesFailIsMeasured(t *testing.T) {
	measured := measured.Start(t)
	now := time.Unix(1_800_000_000, 0)
	e := quote.New(quote.Options{
		Registry: chain.Documented(), Tokens: directory(false), Chains: ethereum(quote.Chain{}),
		Venues: []quote.Venue{&fakeVenue{name: "gone", quoteError: errors.New("HTTP 410")}, &fakeVenue{name: "well", perInput: 10_000}},
		Logger: slog.New(slog.DiscardHandler), Now: func() time.Time { return now },
	})
	stop := e.Observe()
	for range 2 {
		estimate(t, e, usdcToDai())
		now = now.Add(time.Hour)
	}
	const gone, well = "crossgate.venue.failing{crossgate.venue=gone,}", "crossgate.venue.failing{crossgate.venue=well,}"
	seconds := measured()
	if fails, known := seconds[well]; seconds[gone] != 3600 || fails != 0 || !known {
		t.Errorf("measured %v, want 3600 s of the one that is gone and none of the other", seconds)
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
