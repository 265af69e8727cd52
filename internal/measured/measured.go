// Package measured lets tests read the metrics of their process.
package measured

import (
	"context"
	"testing"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"crossgate/internal/must"
)

// Start records all metrics until the test ends. The function that it returns reads their values, or a histogram's
// count, by name and attributes: crossgate.store.connections.max{crossgate.store.pool=read,}.
func Start(tb testing.TB) (now func() map[string]float64) {
	tb.Helper()
	reader, before := metric.NewManualReader(), otel.GetMeterProvider()
	otel.SetMeterProvider(metric.NewMeterProvider(metric.WithReader(reader)))
	tb.Cleanup(func() { otel.SetMeterProvider(before) })
	return func() map[string]float64 {
		tb.Helper()
		var all metricdata.ResourceMetrics
		must.Do(tb, reader.Collect(context.Background(), &all))
		found := values{}
		for _, scope := range all.ScopeMetrics {
			for _, each := range scope.Metrics {
				found.add(tb, each)
			}
		}
		return found
	}
}

type values map[string]float64

func (v values) add(tb testing.TB, m metricdata.Metrics) {
	tb.Helper()
	switch data := m.Data.(type) {
	case metricdata.Gauge[int64]:
		sumUp(v, m.Name, data.DataPoints)
	case metricdata.Gauge[float64]:
		sumUp(v, m.Name, data.DataPoints)
	case metricdata.Sum[int64]:
		sumUp(v, m.Name, data.DataPoints)
	case metricdata.Sum[float64]:
		sumUp(v, m.Name, data.DataPoints)
	case metricdata.Histogram[float64]:
		for _, point := range data.DataPoints {
			v[m.Name+labels(point.Attributes)] += float64(point.Count)
		}
	default:
		tb.Errorf("%s is a %T", m.Name, data)
	}
}

func sumUp[N int64 | float64](v values, name string, points []metricdata.DataPoint[N]) {
	for _, point := range points {
		v[name+labels(point.Attributes)] += float64(point.Value)
	}
}

func labels(set attribute.Set) string {
	text := "{"
	for _, each := range set.ToSlice() {
		text += string(each.Key) + "=" + each.Value.String() + ","
	}
	return text + "}"
}
