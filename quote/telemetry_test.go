package quote_test

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"crossgate/chain"
	"crossgate/internal/must"
	"crossgate/quote"
)

// TestForHowLongVenuesFailIsMeasured has a venue fail twice, with an hour between, and the time after that pass unasked.
func TestForHowLongVenuesFailIsMeasured(t *testing.T) {
	reader, before := metric.NewManualReader(), otel.GetMeterProvider()
	otel.SetMeterProvider(metric.NewMeterProvider(metric.WithReader(reader)))
	t.Cleanup(func() { otel.SetMeterProvider(before) })
	now := time.Unix(1_800_000_000, 0)
	e := quote.New(quote.Options{
		Registry: chain.Documented(), Tokens: directory(false), Chains: ethereum(quote.Chain{}),
		Venues: []quote.Venue{&fakeVenue{name: "gone", quoteError: errors.New("HTTP 410")}, &fakeVenue{name: "well", perInput: 10_000}},
		Logger: slog.New(slog.DiscardHandler), Now: func() time.Time { return now },
	})
	stop := must.Get(e.Observe())(t)
	for range 2 {
		estimate(t, e, usdcToDai())
		now = now.Add(time.Hour)
	}
	if diff := cmp.Diff(map[string]float64{"gone": 3600, "well": 0}, failingSeconds(t, reader)); diff != "" {
		t.Errorf("seconds (-want +got):\n%s", diff)
	}
	must.Do(t, stop())
	if left := failingSeconds(t, reader); len(left) > 0 {
		t.Errorf("after stop there is %v, want nothing", left)
	}
}

// failingSeconds are the seconds that are measured, by venue.
func failingSeconds(t *testing.T, reader *metric.ManualReader) map[string]float64 {
	t.Helper()
	var measured metricdata.ResourceMetrics
	must.Do(t, reader.Collect(t.Context(), &measured))
	seconds := map[string]float64{}
	for _, scope := range measured.ScopeMetrics {
		for _, m := range scope.Metrics {
			gauge, isGauge := m.Data.(metricdata.Gauge[float64])
			if !isGauge || m.Name != "crossgate.venue.failing" {
				continue
			}
			for _, point := range gauge.DataPoints {
				venue, _ := point.Attributes.Value("crossgate.venue")
				seconds[venue.AsString()] = point.Value
			}
		}
	}
	return seconds
}
