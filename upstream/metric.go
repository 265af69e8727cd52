package upstream

import (
	"context"
	"errors"
	"time"

	"github.com/sony/gobreaker/v2"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

const breakerStateKey = attribute.Key("crossgate.breaker.state")

// attemptBounds are for calls over the internet, seconds.
var attemptBounds = []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}

// measures are an endpoint's instruments. Their attributes are what is configured, and classes of errors.
type measures struct {
	failures metric.Int64Counter
	duration metric.Float64Histogram
	whose    metric.MeasurementOption // the endpoint and what it serves
}

// newMeasures makes the instruments. Their names are valid, which is all that could fail.
func newMeasures(name string, attributes []attribute.KeyValue) measures {
	meter := otel.Meter("crossgate/upstream")
	m := measures{whose: metric.WithAttributes(append([]attribute.KeyValue{endpointKey.String(name)}, attributes...)...)}
	m.failures, _ = meter.Int64Counter("crossgate.upstream.failures",
		metric.WithDescription("Attempts at endpoints that gave no usable answer, by class."))
	m.duration, _ = meter.Float64Histogram("crossgate.upstream.attempt.duration", metric.WithUnit("s"),
		metric.WithDescription("Time that attempts at endpoints took, by outcome."), metric.WithExplicitBucketBoundaries(attemptBounds...))
	return m
}

// attempted measures an attempt and counts one that did not lead to an answer, by its class. Who leaves and who
// wants a second opinion did not meet a failure.
func (m measures) attempted(ctx context.Context, took time.Duration, err error) {
	outcome, class := "ok", classOf(err)
	if err != nil {
		outcome = class.String()
	}
	m.duration.Record(ctx, took.Seconds(), m.whose, metric.WithAttributes(outcomeKey.String(outcome)))
	if err != nil && class != Canceled && class != Unconfirmed {
		m.failures.Add(ctx, 1, m.whose, metric.WithAttributes(errorTypeKey.String(outcome)))
	}
}

// Observe has the state of endpoints read whenever measurements are collected, until stop is called.
func Observe(endpoints ...*Endpoint) (stop func() error, err error) {
	meter := otel.Meter("crossgate/upstream")
	var errs [6]error
	willing, err := meter.Int64ObservableGauge("crossgate.upstream.ready",
		metric.WithDescription("1 when an endpoint would be asked at once, 0 when it is paused, spent or kept away from."))
	errs[0] = err
	state, err := meter.Int64ObservableGauge("crossgate.upstream.breaker.state",
		metric.WithDescription("1 for the state that an endpoint's breaker is in: closed, half-open or open."))
	errs[1] = err
	left, err := meter.Float64ObservableGauge("crossgate.upstream.budget.left",
		metric.WithDescription("Requests that may be made at once; endpoints with a rate only. Below zero: as many wait."))
	errs[2] = err
	paused, err := meter.Float64ObservableGauge("crossgate.upstream.pause", metric.WithUnit("s"),
		metric.WithDescription("Time for which an endpoint asked to be left alone."))
	errs[3] = err
	failing, err := meter.Float64ObservableGauge("crossgate.upstream.failing", metric.WithUnit("1"),
		metric.WithDescription("Share of an endpoint's recent calls that failed."))
	errs[4] = err
	registration, err := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		for _, e := range endpoints {
			o.ObserveInt64(willing, truth(e.standing() == ready), e.measures.whose)
			o.ObserveFloat64(paused, max(e.budget.pauseLeft(time.Now()), 0).Seconds(), e.measures.whose)
			o.ObserveFloat64(failing, e.health.failing(), e.measures.whose)
			if e.budget.limiter != nil {
				o.ObserveFloat64(left, e.budget.limiter.Tokens(), e.measures.whose)
			}
			now := e.breaker.steps.Load().State()
			for _, each := range []gobreaker.State{gobreaker.StateClosed, gobreaker.StateHalfOpen, gobreaker.StateOpen} {
				o.ObserveInt64(state, truth(now == each), e.measures.whose, metric.WithAttributes(breakerStateKey.String(each.String())))
			}
		}
		return nil
	}, willing, state, left, paused, failing)
	errs[5] = err
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	return registration.Unregister, nil
}

// truth is a yes or no as a gauge shows it.
func truth(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}
