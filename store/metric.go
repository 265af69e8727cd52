package store

import (
	"context"
	"database/sql"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

const (
	poolKey            = attribute.Key("crossgate.store.pool")
	connectionStateKey = attribute.Key("crossgate.store.connection.state")
)

// operationBounds, in seconds, suit a file cached in memory as well as a distant server.
var operationBounds = []float64{0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}

// newDuration returns the histogram of statement durations, which has the same name as the shared cache's. Only an
// invalid name could fail, and this one is valid.
func newDuration() metric.Float64Histogram {
	made, _ := otel.Meter("crossgate/store").Float64Histogram("db.client.operation.duration", metric.WithUnit("s"),
		metric.WithDescription("Duration of calls to the database and to the shared cache."),
		metric.WithExplicitBucketBoundaries(operationBounds...))
	return made
}

// observe measures, until stop is called, whether the database answers and the state of its connections. Creating
// instruments could fail only for invalid names, and these are valid.
func (db *DB) observe() (stop func() error, err error) {
	meter := otel.Meter("crossgate/store")
	var all []metric.Observable
	gauge := func(name, description string) metric.Int64Observable {
		made, _ := meter.Int64ObservableGauge("crossgate.store."+name, metric.WithDescription(description))
		all = append(all, made)
		return made
	}
	up := gauge("up", "1 while the database answers, as far as this gateway knows.")
	writable := gauge("writable", "1 while the database takes changes, as far as this gateway knows.")
	connections := gauge("connections", "Connections to the database, by pool and state: used or idle.")
	most := gauge("connections.max", "Connections that a pool may open.")
	waits, _ := meter.Int64ObservableCounter("crossgate.store.connection.waits",
		metric.WithDescription("Waits for a connection because the pool was exhausted."))
	waited, _ := meter.Float64ObservableCounter("crossgate.store.connection.wait", metric.WithUnit("s"),
		metric.WithDescription("Time spent waiting for a connection."))
	registration, err := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		o.ObserveInt64(up, Bit(db.Available() == nil))
		o.ObserveInt64(writable, Bit(db.Writable() == nil))
		for name, pool := range map[string]*sql.DB{"read": db.reader, "write": db.writer} {
			now, of := pool.Stats(), poolKey.String(name)
			o.ObserveInt64(connections, int64(now.InUse), metric.WithAttributes(of, connectionStateKey.String("used")))
			o.ObserveInt64(connections, int64(now.Idle), metric.WithAttributes(of, connectionStateKey.String("idle")))
			o.ObserveInt64(most, int64(now.MaxOpenConnections), metric.WithAttributes(of))
			o.ObserveInt64(waits, now.WaitCount, metric.WithAttributes(of))
			o.ObserveFloat64(waited, now.WaitDuration.Seconds(), metric.WithAttributes(of))
		}
		return nil
	}, append(all, waits, waited)...)
	if err != nil {
		return nil, err
	}
	return registration.Unregister, nil
}
