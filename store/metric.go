package store

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
)

// observe has it measured whether the database answers, until stop.
func (a *availability) observe() (stop func() error, err error) {
	meter := otel.Meter("crossgate/store")
	up, gaugeErr := meter.Int64ObservableGauge("crossgate.store.up",
		metric.WithDescription("1 while the PostgreSQL answers, as far as this gateway knows."))
	registration, err := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		var value int64
		if a.err() == nil {
			value = 1
		}
		o.ObserveInt64(up, value)
		return nil
	}, up)
	if err := errors.Join(gaugeErr, err); err != nil {
		return nil, err
	}
	return registration.Unregister, nil
}
