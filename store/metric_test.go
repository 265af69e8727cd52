package store

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// TestOutagesAreMeasured stops a server, and looks at what is measured before, meanwhile and after.
func TestOutagesAreMeasured(t *testing.T) {
	address := newDatabase(t)
	reader := metric.NewManualReader()
	before := otel.GetMeterProvider()
	otel.SetMeterProvider(metric.NewMeterProvider(metric.WithReader(reader)))
	t.Cleanup(func() { otel.SetMeterProvider(before) })
	db := openReplica(t, address)
	measured := func() (up int64, found bool) {
		t.Helper()
		var all metricdata.ResourceMetrics
		if err := reader.Collect(t.Context(), &all); err != nil {
			t.Fatal(err)
		}
		for _, scope := range all.ScopeMetrics {
			for _, each := range scope.Metrics {
				if gauge, is := each.Data.(metricdata.Gauge[int64]); is && each.Name == "crossgate.store.up" {
					return gauge.DataPoints[0].Value, true
				}
			}
		}
		return 0, false
	}
	if up, found := measured(); !found || up != 1 {
		t.Errorf("with the server: %d, %v, want 1", up, found)
	}
	server := shared.server
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := db.Ping(t.Context()); !errors.Is(err, ErrUnavailable) {
		t.Errorf("Ping = %v", err)
	}
	if up, found := measured(); !found || up != 0 {
		t.Errorf("without it: %d, %v, want 0", up, found)
	}
	if err := server.Resume(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for db.Available() != nil && ctx.Err() == nil {
		<-time.After(5 * time.Millisecond)
	}
	if up, found := measured(); !found || up != 1 {
		t.Errorf("with it again: %d, %v, want 1", up, found)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, found := measured(); found {
		t.Error("a closed database is measured")
	}
}
