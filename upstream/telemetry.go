package upstream

import (
	"cmp"
	"context"
	"slices"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

const breakerStateKey = attribute.Key("crossgate.breaker.state")

// attemptBounds are histogram bounds, in seconds, for calls over the internet.
var attemptBounds = []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}

// measures are an endpoint's instruments. Their attributes come from the configuration and from classes of errors.
type measures struct {
	failures metric.Int64Counter
	duration metric.Float64Histogram
	whose    metric.MeasurementOption         // the endpoint and what it serves
	outcomes map[string][]metric.RecordOption // likewise, with the outcome of an attempt
}

// newMeasures creates the instruments. Only an invalid name could fail, and theirs are valid.
func newMeasures(name string, attributes []attribute.KeyValue) measures {
	meter := otel.Meter("crossgate/upstream")
	whose := append([]attribute.KeyValue{endpointKey.String(name)}, attributes...)
	m := measures{whose: metric.WithAttributes(whose...), outcomes: map[string][]metric.RecordOption{}}
	for _, outcome := range append(classNames[:], "ok") {
		m.outcomes[outcome] = []metric.RecordOption{metric.WithAttributes(append(slices.Clip(whose), outcomeKey.String(outcome))...)}
	}
	m.failures, _ = meter.Int64Counter("crossgate.upstream.failures",
		metric.WithDescription("Attempts at endpoints that gave no usable answer, by class."))
	m.duration, _ = meter.Float64Histogram("crossgate.upstream.attempt.duration", metric.WithUnit("s"),
		metric.WithDescription("Duration of attempts at endpoints, by outcome."), metric.WithExplicitBucketBoundaries(attemptBounds...))
	return m
}

// attempted records an attempt's duration and counts its failure, if any, by class. Cancellation is not a failure.
func (m measures) attempted(ctx context.Context, took time.Duration, err error) {
	outcome, class := "ok", ClassOf(err)
	if err != nil {
		outcome = class.String()
	}
	m.duration.Record(ctx, took.Seconds(), m.outcomes[outcome]...)
	if err != nil && class != Canceled {
		m.failures.Add(ctx, 1, m.whose, metric.WithAttributes(errorTypeKey.String(outcome)))
	}
}

// gauges are read from an endpoint at each collection, and left out if known is false.
var gauges = []struct {
	name, unit, description string
	read                    func(*Endpoint) (value float64, known bool)
}{
	{
		"ready", "", "1 if the endpoint can be called immediately, 0 if it is paused, out of budget, behind, cordoned or its breaker is open.",
		func(e *Endpoint) (float64, bool) { return truth(e.standing() == ready), true },
	},
	{
		"cordoned", "", "1 if an operator has cordoned the endpoint.",
		func(e *Endpoint) (float64, bool) { return truth(e.usability.cordoned.Load()), true },
	},
	{
		"head.distance", "", "Blocks that the endpoint's head is ahead of the chain's other endpoints; negative: behind.",
		func(e *Endpoint) (float64, bool) { off, known := e.Distance(); return float64(off), known },
	},
	{
		"budget.left", "", "Requests, or units, available immediately, of endpoints with a rate or monthly plan; negative: as many wait.",
		func(e *Endpoint) (float64, bool) { return e.budget.left() },
	},
	{
		"budget.waiting", "", "Requests, or units, waiting for the rate, of endpoints with one.",
		func(e *Endpoint) (float64, bool) { return e.budget.waiting() },
	},
	{"pause", "s", "Time left of the pause that the endpoint asked for.", func(e *Endpoint) (float64, bool) {
		return max(e.budget.pauseLeft(time.Now()), 0).Seconds(), true
	}},
	{"ban", "s", "Time left of the endpoint's quarantine for a wrong answer.", func(e *Endpoint) (float64, bool) {
		left, _ := e.usability.quarantine.left(time.Now())
		return left.Seconds(), true
	}},
	{
		"failing", "1", "Share of the endpoint's recent calls that failed.",
		func(e *Endpoint) (float64, bool) { _, share := e.health.failing(); return share, true },
	},
}

// Observe reports the state of endpoints whenever measurements are collected, until stop is called.
func Observe(endpoints ...*Endpoint) (stop func()) {
	meter := otel.Meter("crossgate/upstream")
	made := make([]metric.Float64Observable, len(gauges))
	for i, g := range gauges {
		made[i], _ = meter.Float64ObservableGauge("crossgate.upstream."+g.name, metric.WithUnit(g.unit), metric.WithDescription(g.description))
	}
	state, _ := meter.Float64ObservableGauge("crossgate.upstream.breaker.state",
		metric.WithDescription("State of the endpoint's breaker, closed or open: 1 for the current one."))
	all := []metric.Observable{state}
	for _, each := range made {
		all = append(all, each)
	}
	registered, _ := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		for _, e := range endpoints {
			for i, g := range gauges {
				if value, known := g.read(e); known {
					o.ObserveFloat64(made[i], value, e.measures.whose)
				}
			}
			isClosed := e.breaker.isClosed()
			o.ObserveFloat64(state, truth(isClosed), e.measures.whose, metric.WithAttributes(breakerStateKey.String("closed")))
			o.ObserveFloat64(state, truth(!isClosed), e.measures.whose, metric.WithAttributes(breakerStateKey.String("open")))
		}
		return nil
	}, all...)
	return func() { _ = registered.Unregister() } // fails only when called twice
}

func truth(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// Attribute keys of an attempt. HTTP and error keys are OpenTelemetry's semantic conventions
// (opentelemetry.io/docs/specs/semconv, v1.44), the others are ours. None contains a host or a URL: providers put keys
// into both.
const (
	endpointKey   = attribute.Key("crossgate.endpoint")
	attemptKey    = attribute.Key("crossgate.attempt")
	outcomeKey    = attribute.Key("crossgate.outcome")
	httpMethodKey = attribute.Key("http.request.method")
	httpStatusKey = attribute.Key("http.response.status_code")
	errorTypeKey  = attribute.Key("error.type")
)

var asClient = trace.WithSpanKind(trace.SpanKindClient)

// tracing holds the attributes of an endpoint's spans. They do not change.
type tracing struct {
	endpoint   string // its name
	attributes []attribute.KeyValue
}

// start opens the client span of one attempt; in an unsampled trace it costs nothing.
func (t *tracing) start(ctx context.Context, r Request, number int) (context.Context, trace.Span) {
	if parent := trace.SpanContextFromContext(ctx); parent.IsValid() && !parent.IsSampled() {
		return ctx, trace.SpanFromContext(context.Background()) // a no-op span
	}
	// The tracer is looked up each time: a variable would stay bound to the first provider that the process sets.
	ctx, span := otel.Tracer("crossgate/upstream").Start(ctx, cmp.Or(r.Kind, r.method()), asClient)
	if !span.IsRecording() {
		return ctx, span
	}
	span.SetAttributes(endpointKey.String(t.endpoint), attemptKey.Int(number), httpMethodKey.String(r.method()))
	span.SetAttributes(t.attributes...)
	if r.Attributes != nil {
		span.SetAttributes(r.Attributes()...)
	}
	return ctx, span
}

func endAttempt(span trace.Span, response Response, err error) {
	if !span.IsRecording() {
		return
	}
	defer span.End()
	if response.Status != 0 {
		span.SetAttributes(httpStatusKey.Int(response.Status))
	}
	if err == nil {
		span.SetAttributes(outcomeKey.String("ok"))
		return
	}
	class := ClassOf(err).String()
	span.SetAttributes(outcomeKey.String(class))
	if ClassOf(err) != Canceled {
		span.SetAttributes(errorTypeKey.String(class))
		span.SetStatus(codes.Error, class)
	}
}
