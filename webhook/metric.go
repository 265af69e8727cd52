package webhook

import (
	"context"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// count counts the deliveries tried in a pass. Creating the instrument could only fail for an invalid name.
func (d *Deliverer) count(name string, o *passed) {
	deliveries, _ := otel.Meter("crossgate/webhook").Int64Counter("crossgate.webhook.deliveries",
		metric.WithUnit("{delivery}"), metric.WithDescription("Attempts to deliver events to webhooks, by outcome."))
	for result, list := range map[string][]*delivery{"delivered": o.sent, "failed": o.failed, "given up": o.dead} {
		if len(list) > 0 {
			deliveries.Add(context.Background(), int64(len(list)), metric.WithAttributes(
				attribute.String("crossgate.webhook", name), attribute.String("crossgate.webhook.outcome", result)))
		}
	}
}

// Observe exports how many deliveries wait for each subscriber, and how long it has been failing, until stop is called.
func (d *Deliverer) Observe() (stop func()) {
	meter := otel.Meter("crossgate/webhook")
	waiting, _ := meter.Int64ObservableGauge("crossgate.webhook.waiting", metric.WithUnit("{delivery}"),
		metric.WithDescription("Failed deliveries awaiting a retry, and those queued behind them."))
	failing, _ := meter.Float64ObservableGauge("crossgate.webhook.failing", metric.WithUnit("s"),
		metric.WithDescription("Time since a webhook began to fail; 0 if it does not."))
	registered, _ := meter.RegisterCallback(func(ctx context.Context, to metric.Observer) error {
		hooks, err := d.Hooks(ctx)
		for _, h := range hooks {
			of := metric.WithAttributes(attribute.String("crossgate.webhook", h.Name))
			to.ObserveInt64(waiting, int64(h.Waiting), of)
			since := 0.0
			if h.FailingSince > 0 {
				since = d.Now().Sub(time.Unix(h.FailingSince, 0)).Seconds()
			}
			to.ObserveFloat64(failing, since, of)
		}
		return err
	}, waiting, failing)
	return func() { _ = registered.Unregister() } // fails only when called twice
}
