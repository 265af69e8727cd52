package quote_test

import (
	"sync"
	"testing"

	"crossgate/internal/must"
	"crossgate/quote"
)

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
