package store

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

const (
	poolKey            = attribute.Key("crossgate.store.pool")
	connectionStateKey = attribute.Key("crossgate.store.connection.state")
)

// operationBounds are for what a file answers from memory as well as for a server far away, seconds.
var operationBounds = []float64{0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}

// newDuration makes the histogram of statements, which the shared cache has by the same name. The name is valid, which
// is all that could fail.
func newDuration() metric.Float64Histogram {
	made, _ := otel.Meter("crossgate/store").Float64Histogram("db.client.operation.duration", metric.WithUnit("s"),
		metric.WithDescription("Duration of calls to the database and to the shared cache."),
		metric.WithExplicitBucketBoundaries(operationBounds...))
	return made
}

// observe has it measured, until stop, whether the database answers, what its connections do and how large it is.
func (db *DB) observe() (stop func() error, err error) {
	g := instruments{meter: otel.Meter("crossgate/store")}
	up := g.gauge("up", "", "1 while the database answers, as far as this gateway knows.")
	writable := g.gauge("writable", "", "1 while the database takes changes, as far as this gateway knows.")
	connections := g.gauge("connections", "", "Connections to the database, by pool and state: used or idle.")
	most := g.gauge("connections.max", "", "Connections that a pool may open.")
	waits := g.counter("connection.waits", "", "Times that a connection was waited for because all of a pool were in use.")
	waited := g.seconds("connection.wait", "Time for which connections were waited for.")
	data := g.gauge("size", "By", "Size of the database.")
	log := g.gauge("wal.size", "By", "Size of the database's write-ahead log; of a PostgreSQL only where it lets its user see that (role pg_monitor).")
	if err := errors.Join(g.errs...); err != nil {
		return nil, err
	}
	registration, err := g.meter.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		o.ObserveInt64(up, oneIf(db.Available() == nil))
		o.ObserveInt64(writable, oneIf(db.Writable() == nil))
		for name, pool := range db.pools() {
			now, of := pool.Stats(), poolKey.String(name)
			o.ObserveInt64(connections, int64(now.InUse), metric.WithAttributes(of, connectionStateKey.String("used")))
			o.ObserveInt64(connections, int64(now.Idle), metric.WithAttributes(of, connectionStateKey.String("idle")))
			o.ObserveInt64(most, int64(now.MaxOpenConnections), metric.WithAttributes(of))
			o.ObserveInt64(waits, now.WaitCount, metric.WithAttributes(of))
			o.ObserveFloat64(waited, now.WaitDuration.Seconds(), metric.WithAttributes(of))
		}
		size := db.size(ctx, time.Now())
		if size.data > 0 {
			o.ObserveInt64(data, size.data)
		}
		if size.hasLog {
			o.ObserveInt64(log, size.log)
		}
		return nil
	}, g.made...)
	if err != nil {
		return nil, err
	}
	return registration.Unregister, nil
}

func oneIf(holds bool) int64 {
	if holds {
		return 1
	}
	return 0
}

// instruments makes those that are read when measurements are collected.
type instruments struct {
	meter metric.Meter
	made  []metric.Observable
	errs  []error
}

func (g *instruments) gauge(name, unit, description string) metric.Int64Observable {
	made, err := g.meter.Int64ObservableGauge("crossgate.store."+name, metric.WithUnit(unit), metric.WithDescription(description))
	g.made, g.errs = append(g.made, made), append(g.errs, err)
	return made
}

func (g *instruments) counter(name, unit, description string) metric.Int64Observable {
	made, err := g.meter.Int64ObservableCounter("crossgate.store."+name, metric.WithUnit(unit), metric.WithDescription(description))
	g.made, g.errs = append(g.made, made), append(g.errs, err)
	return made
}

func (g *instruments) seconds(name, description string) metric.Float64Observable {
	made, err := g.meter.Float64ObservableCounter("crossgate.store."+name, metric.WithUnit("s"), metric.WithDescription(description))
	g.made, g.errs = append(g.made, made), append(g.errs, err)
	return made
}
