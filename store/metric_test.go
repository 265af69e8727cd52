package store

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"crossgate/internal/must"
)

// TestOutagesAreMeasured stops a server, and looks at what is measured before, meanwhile and after.
func TestOutagesAreMeasured(t *testing.T) {
	address := newDatabase(t)
	reader := measuring(t)
	db := openReplica(t, address)
	measured := func(when string, want float64) {
		t.Helper()
		if up, found := collect(t, reader)["crossgate.store.up{}"]; !found || up != want {
			t.Errorf("%s: %v, %v, want %v", when, up, found, want)
		}
	}
	measured("with the server", 1)
	server := shared.server
	must.Do(t, server.Stop())
	if err := db.Probe(t.Context()); !errors.Is(err, ErrUnavailable) {
		t.Errorf("Ping = %v", err)
	}
	measured("without it", 0)
	must.Do(t, server.Resume())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for db.Available() != nil && ctx.Err() == nil {
		<-time.After(5 * time.Millisecond)
	}
	measured("with it again", 1)
	must.Do(t, db.Close())
	if _, found := collect(t, reader)["crossgate.store.up{}"]; found {
		t.Error("a closed database is measured")
	}
}

// TestStatementsAreMeasured wants every kind of statement to be counted, failed ones by the database's code, and to know
// what the connections do.
func TestStatementsAreMeasured(t *testing.T) {
	for system, open := range map[string]func(*testing.T) *DB{"sqlite": openStore, "postgresql": openPostgres} {
		t.Run(system, func(t *testing.T) {
			reader := measuring(t)
			db := open(t)
			must.Get(db.ClaimPlans(t.Context(), []PlanClaim{{Service: "1", Endpoint: "one", Claim: time.Second}}))(t)
			failure := db.ForEachRow(t.Context(), nil, `SELECT one FROM nowhere`)
			if failure == nil {
				t.Fatal("a table that is not there was read")
			}
			measured := collect(t, reader)
			of := "db.system.name=" + system + ","
			for _, want := range []string{
				"db.client.operation.duration{db.operation.name=INSERT," + of + "}",
				"db.client.operation.duration{db.operation.name=BEGIN," + of + "}",
				"db.client.operation.duration{db.operation.name=COMMIT," + of + "}",
				"db.client.operation.duration{db.operation.name=SELECT," + of + "error.type=" + codeOf(failure) + ",}",
				"crossgate.store.up{}",
				"crossgate.store.connections{crossgate.store.connection.state=idle,crossgate.store.pool=write,}",
				"crossgate.store.connections.max{crossgate.store.pool=read,}",
			} {
				if measured[want] <= 0 {
					t.Errorf("%s = %v, want more than 0, of %v", want, measured[want], measured)
				}
			}
			if got := measured["crossgate.store.connection.waits{crossgate.store.pool=write,}"]; got != 0 {
				t.Errorf("connections were waited for %v times, want never", got)
			}
		})
	}
}

// TestWaitingForAConnectionIsMeasured has a second change wait for the one that is under way.
func TestWaitingForAConnectionIsMeasured(t *testing.T) {
	reader := measuring(t)
	db, second := openStore(t), make(chan error, 1)
	err := db.Update(t.Context(), func(*Tx) error {
		go func() { second <- db.Update(t.Context(), func(*Tx) error { return nil }) }()
		for db.writer.Stats().WaitCount == 0 {
			runtime.Gosched()
		}
		return nil
	})
	must.Do(t, errors.Join(err, <-second))
	measured := collect(t, reader)
	if got := measured["crossgate.store.connection.waits{crossgate.store.pool=write,}"]; got != 1 {
		t.Errorf("a connection was waited for %v times, want once", got)
	}
	if got := measured["crossgate.store.connection.wait{crossgate.store.pool=write,}"]; got <= 0 {
		t.Errorf("it was waited for %v s", got)
	}
}

// measuring has everything measured by a reader until the test ends.
func measuring(t *testing.T) *metric.ManualReader {
	reader, before := metric.NewManualReader(), otel.GetMeterProvider()
	otel.SetMeterProvider(metric.NewMeterProvider(metric.WithReader(reader)))
	t.Cleanup(func() { otel.SetMeterProvider(before) })
	return reader
}

// collect returns what is measured now by name and attributes; of histograms how often.
func collect(t *testing.T, reader *metric.ManualReader) map[string]float64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	must.Do(t, reader.Collect(t.Context(), &all))
	measured := map[string]float64{}
	for _, scope := range all.ScopeMetrics {
		for _, each := range scope.Metrics {
			switch data := each.Data.(type) {
			case metricdata.Gauge[int64]:
				sumUp(measured, each.Name, data.DataPoints)
			case metricdata.Sum[int64]:
				sumUp(measured, each.Name, data.DataPoints)
			case metricdata.Sum[float64]:
				sumUp(measured, each.Name, data.DataPoints)
			case metricdata.Histogram[float64]:
				for _, point := range data.DataPoints {
					measured[each.Name+labelsOf(point.Attributes)] += float64(point.Count)
				}
			default:
				t.Errorf("%s is a %T", each.Name, data)
			}
		}
	}
	return measured
}

func sumUp[N int64 | float64](measured map[string]float64, name string, points []metricdata.DataPoint[N]) {
	for _, point := range points {
		measured[name+labelsOf(point.Attributes)] += float64(point.Value)
	}
}

func labelsOf(set attribute.Set) string {
	text := "{"
	for _, each := range set.ToSlice() {
		text += string(each.Key) + "=" + each.Value.String() + ","
	}
	return text + "}"
}
