package upstream

import (
	"context"
	"errors"
	"time"

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

// attempted measures an attempt and counts one that gave no answer, by its class. A canceled attempt and an answer that
// has to be confirmed are no failures.
func (m measures) attempted(ctx context.Context, took time.Duration, err error) {
	outcome, class := "ok", ClassOf(err)
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
	g := gauges{meter: otel.Meter("crossgate/upstream")}
	willing := g.number("ready", "1 when an endpoint would be asked at once, 0 when it is paused, out of budget, behind, cordoned or its breaker is open.")
	state := g.number("breaker.state", "1 for the state that an endpoint's breaker is in, closed or open, overridden or not.")
	forced := g.number("breaker.forced", "1 when an operator overrides an endpoint's breaker.")
	outOfUse := g.number("cordoned", "1 when an operator has cordoned an endpoint.")
	distance := g.number("head.distance", "Blocks from the head of the other endpoints of a chain to that of an endpoint; below zero: behind.")
	left := g.amount("budget.left", "", "Requests, or units, that may be spent at once; endpoints with a rate or a monthly plan only. Below zero: as many wait.")
	waiting := g.amount("budget.waiting", "", "Requests, or units, that wait until an endpoint's rate allows them; endpoints with a rate only.")
	paused := g.amount("pause", "s", "Time for which an endpoint asked us to pause.")
	ban := g.amount("ban", "s", "Time for which an endpoint still stays in quarantine for a wrong answer.")
	failing := g.amount("failing", "1", "Share of an endpoint's recent calls that failed.")
	return g.observe(func(o metric.Observer) {
		now := time.Now()
		for _, e := range endpoints {
			whose := e.measures.whose
			o.ObserveInt64(willing, truth(e.standing() == ready), whose)
			o.ObserveInt64(forced, truth(Force(e.breaker.forced.Load()) != Unforced), whose)
			o.ObserveInt64(outOfUse, truth(e.usability.cordoned.Load()), whose)
			o.ObserveFloat64(paused, max(e.budget.pauseLeft(now), e.budget.downLeft()).Seconds(), whose)
			banned, _ := e.usability.quarantine.left(now)
			o.ObserveFloat64(ban, banned.Seconds(), whose)
			_, share := e.health.failing()
			o.ObserveFloat64(failing, share, whose)
			if off, known := e.Distance(); known {
				o.ObserveInt64(distance, off, whose)
			}
			if units, limited := e.budget.left(); limited {
				o.ObserveFloat64(left, units, whose)
			}
			if units, limited := e.budget.waiting(); limited {
				o.ObserveFloat64(waiting, units, whose)
			}
			isClosed := e.breaker.isClosed()
			o.ObserveInt64(state, truth(isClosed), whose, metric.WithAttributes(breakerStateKey.String("closed")))
			o.ObserveInt64(state, truth(!isClosed), whose, metric.WithAttributes(breakerStateKey.String("open")))
		}
	})
}

// gauges makes instruments that are read when measurements are collected.
type gauges struct {
	meter metric.Meter
	made  []metric.Observable
	errs  []error
}

func (g *gauges) number(name, description string) metric.Int64Observable {
	made, err := g.meter.Int64ObservableGauge("crossgate.upstream."+name, metric.WithDescription(description))
	g.made, g.errs = append(g.made, made), append(g.errs, err)
	return made
}

func (g *gauges) amount(name, unit, description string) metric.Float64Observable {
	made, err := g.meter.Float64ObservableGauge("crossgate.upstream."+name, metric.WithUnit(unit), metric.WithDescription(description))
	g.made, g.errs = append(g.made, made), append(g.errs, err)
	return made
}

func (g *gauges) observe(read func(metric.Observer)) (stop func() error, err error) {
	if err := errors.Join(g.errs...); err != nil {
		return nil, err
	}
	registration, err := g.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		read(o)
		return nil
	}, g.made...)
	if err != nil {
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
