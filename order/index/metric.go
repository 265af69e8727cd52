package index

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"crossgate/chain"
)

// chainAttribute names a chain by the API's number.
func chainAttribute(id chain.ID) metric.MeasurementOption {
	return metric.WithAttributes(attribute.Int64("crossgate.chain.id", int64(id)))
}

// observe has the place of every follower read whenever measurements are collected, until stop is called.
func (x *Index) observe() (stop func() error, err error) {
	meter := otel.Meter("crossgate/order/index")
	var errs [4]error
	head, err := meter.Int64ObservableGauge("crossgate.index.head",
		metric.WithDescription("Number of the newest block that a chain reported."))
	errs[0] = err
	indexed, err := meter.Int64ObservableGauge("crossgate.index.block",
		metric.WithDescription("Number of the newest block whose events are stored."))
	errs[1] = err
	lag, err := meter.Float64ObservableGauge("crossgate.index.lag", metric.WithUnit("s"),
		metric.WithDescription("Age of the index of a chain: events before that are in it."))
	errs[2] = err
	registration, err := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		now := time.Now()
		for id, each := range x.Lag() {
			if each.Head == 0 {
				continue // nothing is known of it yet
			}
			o.ObserveInt64(head, int64(each.Head), chainAttribute(id))
			o.ObserveInt64(indexed, int64(each.Indexed), chainAttribute(id))
			o.ObserveFloat64(lag, each.By(now).Seconds(), chainAttribute(id))
		}
		return nil
	}, head, indexed, lag)
	errs[3] = err
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	return registration.Unregister, nil
}

// countReorg counts a chain's taking back of blocks that were read. The counter is asked for each time, like the
// tracer; reorgs are rare enough.
func countReorg(ctx context.Context, id chain.ID) {
	reorgs, invalid := otel.Meter("crossgate/order/index").Int64Counter("crossgate.index.reorgs",
		metric.WithDescription("Reorgs that dropped blocks which had been indexed."))
	if invalid != nil {
		return // a provider that refuses this name refuses to count
	}
	reorgs.Add(ctx, 1, chainAttribute(id))
}
