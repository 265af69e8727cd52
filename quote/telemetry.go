package quote

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

const scope = "crossgate/quote"

// start opens a span within the request's, at no cost if that is not sampled. It looks up the tracer each time, since
// the provider may be set after this package is loaded.
func start(ctx context.Context, name string, about attribute.KeyValue) (context.Context, trace.Span) {
	if !trace.SpanContextFromContext(ctx).IsSampled() {
		return ctx, trace.SpanFromContext(context.Background())
	}
	ctx, span := otel.Tracer(scope).Start(ctx, name)
	span.SetAttributes(about)
	return ctx, span
}

// measures holds the instruments of comparisons. Attribute values are configured venues and fixed words.
type measures struct {
	refusals metric.Int64Counter
	verdicts metric.Int64Counter
	duration metric.Float64Histogram

	mu      sync.Mutex
	options map[venueOutcome]attributed // by outcome, built once
}

type attributed struct {
	add    []metric.AddOption
	record []metric.RecordOption
}

type venueOutcome struct {
	venue, value string
	key          attribute.Key
}

// of returns the attributes of a measurement, building them once.
func (m *measures) of(o venueOutcome) attributed {
	m.mu.Lock()
	defer m.mu.Unlock()
	made, known := m.options[o]
	if !known {
		with := metric.WithAttributes(venueKey.String(o.venue), o.key.String(o.value))
		made = attributed{[]metric.AddOption{with}, []metric.RecordOption{with}}
		m.options[o] = made
	}
	return made
}

// newMeasures returns the instruments. Creating one could only fail for an invalid name.
func newMeasures() *measures {
	meter := otel.Meter(scope)
	m := &measures{options: map[venueOutcome]attributed{}}
	m.refusals, _ = meter.Int64Counter("crossgate.quote.refusals",
		metric.WithDescription("Best quotes whose transaction was refused, by venue and reason."))
	m.verdicts, _ = meter.Int64Counter("crossgate.venue.verdicts",
		metric.WithDescription("Outcomes of venues in comparisons: won, outbid, refused, silent or left out."))
	m.duration, _ = meter.Float64Histogram("crossgate.venue.duration", metric.WithUnit("s"),
		metric.WithDescription("Duration of venues' quotes, by outcome."),
		metric.WithExplicitBucketBoundaries(0.05, 0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 5))
	return m
}

func (m *measures) quoted(ctx context.Context, venue string, took time.Duration, err error) {
	outcome := "ok"
	if err != nil {
		outcome = reason(err)
	}
	m.duration.Record(ctx, took.Seconds(), m.of(venueOutcome{venue, outcome, outcomeKey}).record...)
}

func (m *measures) judged(ctx context.Context, all []Asked) {
	for _, each := range all {
		m.verdicts.Add(ctx, 1, m.of(venueOutcome{each.Venue, each.Verdict.String(), verdictKey}).add...)
	}
}

const (
	chainKey     = attribute.Key("crossgate.chain.id")
	venueKey     = attribute.Key("crossgate.venue")
	outcomeKey   = attribute.Key("crossgate.outcome")
	amountOutKey = attribute.Key("crossgate.amount_out")
	offersKey    = attribute.Key("crossgate.offers")
	refusedKey   = attribute.Key("crossgate.refused")
	verdictKey   = attribute.Key("crossgate.verdict")
	reasonKey    = attribute.Key("crossgate.reason")
)

// finish ends span with the outcome of err. Neither a missing route nor a cancelled venue is a failure.
func finish(span trace.Span, err error) {
	defer span.End()
	if !span.IsRecording() {
		return
	}
	if err == nil {
		span.SetAttributes(outcomeKey.String("ok"))
		return
	}
	span.SetAttributes(outcomeKey.String(reason(err)))
	span.RecordError(err)
	if requestFault(err) == nil && !errors.Is(err, context.Canceled) {
		span.SetStatus(codes.Error, reason(err))
	}
}

// reason maps err to one of a few words, fit for a metric.
func reason(err error) string {
	switch {
	case requestFault(err) != nil:
		return "no route"
	case errors.Is(err, ErrRefused):
		return "refused"
	case errors.Is(err, ErrExpired):
		return "expired"
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	}
	return "failed"
}
