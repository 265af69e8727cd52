package upstream_test

import (
	"context"
	"testing"
	"testing/synctest"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"crossgate/internal/must"
	"crossgate/upstream"
)

// TestRequestsThatWaitForTheRateAreMeasured has three requests at an endpoint that takes one a second.
func TestRequestsThatWaitForTheRateAreMeasured(t *testing.T) {
	reader, before := metric.NewManualReader(), otel.GetMeterProvider()
	otel.SetMeterProvider(metric.NewMeterProvider(metric.WithReader(reader)))
	t.Cleanup(func() { otel.SetMeterProvider(before) })
	synctest.Test(t, func(t *testing.T) {
		limited := endpoint(t, "limited", always(200, "{}"), upstream.EndpointOptions{RequestsPerSecond: 1, Burst: 1})
		free := endpoint(t, "free", always(200, "{}"), upstream.EndpointOptions{})
		defer upstream.Observe(limited, free)()
		done := make(chan error)
		for range 3 {
			go func() {
				_, err := limited.Do(t.Context(), upstream.Request{})
				done <- err
			}()
		}
		synctest.Wait()
		if got := waitingFor(t, reader); len(got) != 1 || got["limited"] != 2 {
			t.Errorf("%v requests wait, want 2 at the one endpoint that has a rate", got)
		}
		for range 3 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if got := waitingFor(t, reader); got["limited"] != 0 {
			t.Errorf("%v requests wait at the end, want none", got)
		}
	})
}

// waitingFor is what is measured of requests that wait, by endpoint.
func waitingFor(t *testing.T, reader metric.Reader) map[string]float64 {
	t.Helper()
	var measured metricdata.ResourceMetrics
	must.Do(t, reader.Collect(context.Background(), &measured))
	found := map[string]float64{}
	for _, scope := range measured.ScopeMetrics {
		for _, m := range scope.Metrics {
			if m.Name != "crossgate.upstream.budget.waiting" {
				continue
			}
			for _, point := range m.Data.(metricdata.Gauge[float64]).DataPoints {
				name, _ := point.Attributes.Value("crossgate.endpoint")
				found[name.AsString()] += point.Value
			}
		}
	}
	return found
}
